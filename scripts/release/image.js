// `node scripts/release/image.js DIRECTORY`: writes a container image as an OCI layout, without a daemon and without a base image:
// the Node.js that runs this, its libraries and the server in one file. There is no shell and no package manager in it. The same
// commit, on the same Node.js and libraries, has the same bytes. `skopeo copy oci:DIRECTORY docker://...` publishes it.
//
// Node.js contains the certificates of authorities and the time zones. Linux only; the build must be current.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFolders } from '../package-folders.js'
import { commitTime } from './commit-time.js'
import { dependenciesOf } from './dependencies.js'
import { imageLicence, noticesOf } from './notices.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** As in deploy/Dockerfile, by number: Kubernetes cannot check a name. It owns nothing in the image. */
const user = '1000:1000'
const live = "fetch('http://127.0.0.1:8484/health/live').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"

/** The libraries of a program, and its loader, under the paths at which it looks for them. */
const librariesOf = (program) =>
  [...execFileSync('ldd', [program], { encoding: 'utf8' }).matchAll(/(?:=> )?(\/\S+) \(0x/gu)].map(([, path]) => path)

function fillRoot(folder, { node, libraries, notices, server }) {
  // It is the root of the image, which its user must read.
  chmodSync(folder, 0o755)
  const add = (from, to, mode) => {
    const target = join(folder, to)
    mkdirSync(dirname(target), { recursive: true, mode: 0o755 })
    if (typeof from === 'string') copyFileSync(realpathSync(from), target)
    else writeFileSync(target, from.text)
    chmodSync(target, mode)
  }
  add(node, 'usr/local/bin/node', 0o755)
  for (const path of libraries) add(path, path, 0o755)
  for (const { name, file } of notices) add(file, `usr/share/doc/${name}/copyright`, 0o644)
  add(server, 'usr/local/lib/grantry/grantry.mjs', 0o644)
  add({ text: 'grantry:x:1000:1000::/:/sbin/nologin\n' }, 'etc/passwd', 0o644)
  add({ text: 'grantry:x:1000:\n' }, 'etc/group', 0o644)
  add({ text: 'hosts: files dns\n' }, 'etc/nsswitch.conf', 0o644)
  mkdirSync(join(folder, 'etc/grantry'), { mode: 0o755 })
}

/** Returns a layer, with the times, owners and order that are the same everywhere. */
function layerOf(folder, seconds) {
  const same = ['--sort=name', `--mtime=@${seconds}`, '--owner=0', '--group=0', '--numeric-owner', '--format=gnu']
  return execFileSync('tar', [...same, '--mode=go-w', '-C', folder, '-cf', '-', '.'], { maxBuffer: 2 ** 30 })
}

const configurationOf = (layer, { time, version, licence }) => ({
  created: time,
  architecture: { x64: 'amd64' }[process.arch] ?? process.arch,
  os: 'linux',
  config: {
    User: user,
    WorkingDir: '/etc/grantry',
    Env: ['PATH=/usr/local/bin', 'NODE_ENV=production'],
    Entrypoint: ['/usr/local/bin/node', '--max-semi-space-size=4', '/usr/local/lib/grantry/grantry.mjs'],
    Cmd: ['serve', '--config', '/etc/grantry/grantry.config.json', '--host', '0.0.0.0', '--port', '8484'],
    ExposedPorts: { '8484/tcp': {} },
    StopSignal: 'SIGTERM',
    // Liveness, not readiness: a server must not be killed because its storage is down. Not of OCI; Docker and Podman read it.
    Healthcheck: {
      Test: ['CMD', '/usr/local/bin/node', '-e', live],
      Interval: 1e10,
      Timeout: 3e9,
      StartPeriod: 1e10,
      Retries: 3,
    },
    Labels: {
      'org.opencontainers.image.title': 'grantry',
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.licenses': licence,
      'org.opencontainers.image.source': 'https://github.com/grantry/grantry',
    },
  },
  rootfs: { type: 'layers', diff_ids: [`sha256:${createHash('sha256').update(layer).digest('hex')}`] },
})

/**
 * Writes an OCI layout.
 *
 * @param directory must not exist
 * @param options.node the program that is put into the image. Default: the one that runs this
 * @throws Error if the text of a licence is missing
 */
export function writeImage(
  directory,
  { node = process.execPath, server = join(root, 'packages/server/dist/grantry.mjs') } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'grantry-image-'))
  try {
    const { version } = JSON.parse(readFileSync(join(root, 'packages/server/package.json'), 'utf8'))
    const time = commitTime(root)
    const libraries = librariesOf(node)
    const notices = noticesOf(node, libraries)
    const licence = imageLicence(notices, dependenciesOf(root, packageFolders))
    fillRoot(folder, { node, libraries, notices, server })
    const blobs = join(directory, 'blobs/sha256')
    mkdirSync(blobs, { recursive: true })
    const add = (content, kind) => {
      const digest = createHash('sha256').update(content).digest('hex')
      writeFileSync(join(blobs, digest), content)
      return { mediaType: `application/vnd.oci.image.${kind}`, digest: `sha256:${digest}`, size: content.length }
    }
    const json = (value) => Buffer.from(JSON.stringify(value))
    // Not compressed: the bytes would depend on the version of zlib. What publishes it compresses it.
    const layer = layerOf(folder, Date.parse(time) / 1000)
    const layers = [add(layer, 'layer.v1.tar')]
    const config = add(json(configurationOf(layer, { time, version, licence })), 'config.v1+json')
    const mediaType = 'application/vnd.oci.image.manifest.v1+json'
    const manifest = add(json({ schemaVersion: 2, mediaType, config, layers }), 'manifest.v1+json')
    const annotations = { 'org.opencontainers.image.ref.name': version }
    writeFileSync(join(directory, 'index.json'), json({ schemaVersion: 2, manifests: [{ ...manifest, annotations }] }))
    writeFileSync(join(directory, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
    return { digest: manifest.digest, bytes: layer.length, version }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , directory] = process.argv
  if (directory === undefined) throw new Error('give the directory of the image')
  const { digest, bytes, version } = writeImage(directory)
  process.stdout.write(`grantry:${version} ${digest}, ${Math.round(bytes / 1e6)} MB, in ${directory}\n`)
}
