#!/usr/bin/env bash
# Tries a wheel (try.sh) in a Debian without compilers, as root. debootstrap installs it into a
# temporary folder, or into FOLDER, where a later call finds it; from DEBIAN_MIRROR if that is set.
#
#   packaging/wheel/try_debian.sh WHEEL [RELEASE [FOLDER]]     (default: bookworm, Debian 12)
set -euo pipefail
wheel=$(readlink -f "$1") release=${2:-bookworm} folder=${3:-}
here=$(cd "$(dirname "$0")" && pwd)
if [[ ! $folder ]]; then
  folder=$(mktemp -d)
  trap 'rm -rf --one-file-system "$folder"' EXIT
fi

if [[ ! -x $folder/usr/bin/python3 ]]; then
  debootstrap --variant=minbase --include=python3-venv,ca-certificates "$release" "$folder" \
    ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} > /dev/null
fi
cp /etc/resolv.conf "$folder/etc/"
# Those of this machine, which may have further ones. Links of the folder would lead out of it.
cp -rL --remove-destination /etc/ssl/certs "$folder/etc/ssl/"
cp "$wheel" "$here/try.sh" "$folder/root/"
# shellcheck disable=SC2016
unshare --mount --pid --fork chroot "$folder" bash -c \
  'mount -t proc proc /proc && HOME=/root exec bash /root/try.sh "/root/$1"' \
  try "$(basename "$wheel")"
