# Sourced by launch and unpin: where the mount namespace of DOCK_HOST_DIR is pinned. Each host folder has its own pin.
pin_folder=/run/dock-$(printf '%s' "$DOCK_HOST_DIR" | sha256sum | cut -c1-12)
pin=$pin_folder/mounts

is_pinned() { [ -e "$pin" ] && [ "$(stat -f -c %T "$pin")" = nsfs ]; }

# A namespace can only be pinned on a private mount.
make_pin_folder() {
  mkdir -p -m 0700 "$pin_folder"
  mountpoint -q "$pin_folder" || mount --bind "$pin_folder" "$pin_folder"
  mount --make-private "$pin_folder"
  : >"$pin"
}

# Creates and pins a mount namespace, once the given program has prepared it. The kernel refuses to pin a namespace that
# looks older than our own. Linux 6.18 compares sequence numbers that each processor takes from its own supply, so try every
# processor: the one that created our namespace gives a higher number.
pin_namespace() {
  local processor error=''
  make_pin_folder
  for ((processor = 0; processor < $(nproc --all); processor++)); do
    error=$(taskset --cpu-list "$processor" unshare --mount="$pin" --propagation slave "$@" 2>&1 >/dev/null) && return
    # Pinning worked, so only the preparation failed. Another processor would not change that.
    if is_pinned; then umount "$pin"; break; fi
  done
  printf '%s\n' "$error" >&2
  return 1
}

remove_pin() {
  if is_pinned; then umount "$pin"; fi
  if mountpoint -q "$pin_folder"; then umount "$pin_folder"; fi
  rm -rf --one-file-system "$pin_folder"
}

# Run inside a new namespace: unmounts the disks of Docks that are not below DOCK_HOST_DIR. A new mount namespace copies every
# mount, and such a copy would prevent the other host agent from detaching its disk.
release_foreign_disks() {
  local point device fields
  while read -r _ _ _ _ point fields; do
    device=${fields##* - ext4 }
    device=${device%% *}
    [[ $device == /dev/loop* && $point != "$DOCK_HOST_DIR"/* ]] || continue
    [[ $(cat "/sys/block/${device#/dev/}/loop/backing_file" 2>/dev/null) != */disk.raw ]] || umount -l "$point"
  done </proc/self/mountinfo
}
