# Debian's Python and the C libraries that the wheels link to. No package manager, no setuid program, no mirror's name.
FROM scratch
ADD rootfs.tar /
