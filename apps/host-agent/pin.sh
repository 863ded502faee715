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

remove_pin() {
  if is_pinned; then umount "$pin"; fi
  if mountpoint -q "$pin_folder"; then umount "$pin_folder"; fi
  rm -rf --one-file-system "$pin_folder"
}
