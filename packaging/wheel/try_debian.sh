#!/usr/bin/env bash
# Tries a wheel (try.sh) in a new Debian without compilers, as root: debootstrap installs it into a
# temporary folder.
#
#   packaging/wheel/try_debian.sh WHEEL [RELEASE]     (default: bookworm, Debian 12)
set -euo pipefail
wheel=$(readlink -f "$1") release=${2:-bookworm}
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'umount "$folder/proc" "$folder/sys" 2> /dev/null; rm -rf --one-file-system "$folder"' EXIT

debootstrap --variant=minbase --include=python3-venv,ca-certificates "$release" "$folder" \
  "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" > "$folder.log" ||
  { tail -n 20 "$folder.log" && exit 1; }
rm "$folder.log"
mount -t proc proc "$folder/proc"
mount -t sysfs sysfs "$folder/sys"
cp /etc/resolv.conf "$folder/etc/"
# Certificates and proxies of this machine, if it has its own.
cp -rL /etc/ssl/certs "$folder/etc/ssl/"
cp "$wheel" "$here/try.sh" "$folder/root/"
chroot "$folder" /usr/bin/env HOME=/root bash "/root/try.sh" "/root/$(basename "$wheel")"
