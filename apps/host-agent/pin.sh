# Sourced by launch and unpin: where the mount namespace of DOCK_HOST_DIR is pinned. One pin for each host folder.
pin_folder=/run/dock-$(printf '%s' "$DOCK_HOST_DIR" | sha256sum | cut -c1-12)
pin=$pin_folder/mounts

is_pinned() { [ -e "$pin" ] && [ "$(stat -f -c %T "$pin")" = nsfs ]; }

# A namespace can be pinned on a mount that is shared with nobody only.
make_pin_folder() {
  mkdir -p -m 0700 "$pin_folder"
  mountpoint -q "$pin_folder" || mount --bind "$pin_folder" "$pin_folder"
  mount --make-private "$pin_folder"
  : >"$pin"
}

# Pins a new mount namespace, once the program given has prepared it. The kernel pins only what it takes for younger than
# the namespace we are in; Linux 6.18 tells that by numbers of which every processor has its own store, so that we try on
# each: on the one that made ours the next number is higher.
pin_namespace() {
  local processor error=''
  make_pin_folder
  for ((processor = 0; processor < $(nproc --all); processor++)); do
    error=$(taskset --cpu-list "$processor" unshare --mount="$pin" --propagation slave "$@" 2>&1 >/dev/null) && return
    # Pinned, so that only its preparation failed: another processor would not change that.
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

# A new mount namespace holds a copy of every mount, so that a Dock's disk mounted outside could never be detached there.
# Run inside a new namespace: unmounts the disks of Docks that are not below DOCK_HOST_DIR.
release_foreign_disks() {
  local point device fields
  while read -r _ _ _ _ point fields; do
    device=${fields##* - ext4 }
    device=${device%% *}
    [[ $device == /dev/loop* && $point != "$DOCK_HOST_DIR"/* ]] || continue
    [[ $(cat "/sys/block/${device#/dev/}/loop/backing_file" 2>/dev/null) != */disk.raw ]] || umount -l "$point"
  done </proc/self/mountinfo
}
