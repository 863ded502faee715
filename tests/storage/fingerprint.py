"""Everything that a filesystem holds, one line an entry, or a tree of odd things to hold: fingerprint.py ROOT | fill ROOT SEED"""
import hashlib, os, random, stat, sys


def entries(root):
    links = {}
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted(folders + files):
            path = os.path.join(folder, name)
            facts = os.lstat(path)
            told = os.path.relpath(path, root)
            content = ''
            if stat.S_ISREG(facts.st_mode):
                digest = hashlib.sha256()
                with open(path, 'rb') as file:
                    while block := file.read(1 << 20):
                        digest.update(block)
                content = digest.hexdigest()
            elif stat.S_ISLNK(facts.st_mode):
                content = os.readlink(path)
            elif stat.S_ISCHR(facts.st_mode) or stat.S_ISBLK(facts.st_mode):
                content = facts.st_rdev
            xattrs = sorted((each, os.getxattr(path, each, follow_symlinks=False)) for each in os.listxattr(path, follow_symlinks=False))
            # Names of one file share the first of them.
            same = links.setdefault(facts.st_ino, told) if facts.st_nlink > 1 and not stat.S_ISDIR(facts.st_mode) else told
            size = 0 if stat.S_ISDIR(facts.st_mode) else facts.st_size
            yield (told, oct(facts.st_mode), facts.st_uid, facts.st_gid, facts.st_mtime_ns, size, facts.st_nlink, same, content, xattrs)


def fill(root, seed):
    dice = random.Random(seed)
    base = os.path.join(root, 'tree-%s' % seed)
    os.makedirs(base)
    paths = []
    for index in range(dice.randint(10, 30)):
        folder = os.path.join(base, *('d%d' % dice.randint(0, 3) for _ in range(dice.randint(0, 3))))
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, dice.choice(['plain%d', 'with space %d', 'é%d', '"quoted"%d', '-dash%d']) % index)
        with open(path, 'wb') as file:
            file.write(dice.randbytes(dice.choice([0, 1, 4095, 4096, 70_000, 600_000])))
        paths.append(path)
    sparse = os.path.join(base, 'sparse')
    with open(sparse, 'wb') as file:
        file.seek(dice.randint(1, 30) << 20)
        file.write(b'end')
        file.truncate(40 << 20)
    paths.append(sparse)
    for index, path in enumerate(dice.sample(paths, 6)):
        os.link(path, os.path.join(base, 'hard%d' % index))
        os.symlink(dice.choice([path, '../away', '/etc/shadow']), os.path.join(base, 'link%d' % index))
        os.setxattr(path, 'user.note%d' % index, dice.randbytes(dice.randint(0, 200)))
    for path in paths:
        os.chown(path, dice.choice([0, 1000, 65534]), dice.choice([0, 1000]))
        os.chmod(path, dice.choice([0o644, 0o600, 0o755, 0o4755, 0o000]))
        os.utime(path, ns=(dice.randint(0, 2 << 60), dice.randint(0, 2 << 60)))
    os.mkfifo(os.path.join(base, 'pipe'))
    os.mknod(os.path.join(base, 'null'), stat.S_IFCHR | 0o666, os.makedev(1, 3))


if sys.argv[1] == 'fill':
    fill(sys.argv[2], sys.argv[3])
else:
    for entry in entries(sys.argv[2]):
        print(ascii(entry))
