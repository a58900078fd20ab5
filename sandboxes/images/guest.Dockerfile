# Our guest code on top. It stands last, so that a change to it rebuilds nothing else.
# No ENV: the launcher sends every variable, and compares what the container really got.
ARG DEPS
FROM ${DEPS}
COPY heldout.pth /usr/lib/python3/dist-packages/heldout.pth
COPY sandboxes /opt/heldout/sandboxes
USER 62065:62065
WORKDIR /tmp
ENTRYPOINT ["/usr/bin/python3.11", "-I", "-B", "-m", "sandboxes.model"]
