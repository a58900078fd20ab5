# The wheels of one guest's lock, unpacked on the host: this build has no network.
ARG BASE
FROM ${BASE}
COPY site-packages /opt/heldout/site-packages
