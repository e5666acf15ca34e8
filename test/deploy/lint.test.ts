import { execFile, spawnSync } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DCLinter } from 'dclint'
import { validate } from 'dockerfile-utils'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { defaultDrain } from '../../packages/adapters/src/http-bridge/portable.ts'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import { packageFolders } from '../../scripts/package-folders.js'
import { describeWith } from '../support/describe-with.ts'
import { root } from './single-file.ts'

// Checks `deploy/` without a container engine. two-servers.test.ts runs the setup that it describes.

const run = promisify(execFile)
const textOf = (file: string): Promise<string> => readFile(`${root}/deploy/${file}`, 'utf8')
const dockerfile = await textOf('Dockerfile')
const compose = parse(await textOf('compose.yaml'), { merge: true })
const unit = await textOf('grantry.service')

/** The COPY instructions of the build stage: [from..., to]. */
const copies = [...dockerfile.matchAll(/^COPY (?!--from)(.+)$/gmu)].map(([, words = '']) => words.split(' '))

test('the linter finds no problem in the Dockerfile', () => {
  expect(validate(dockerfile).map(({ message, range }) => `${range.start.line + 1}: ${message}`)).toEqual([])
})

test('the Dockerfile copies the manifest of each package before npm ci', () => {
  const before = dockerfile.slice(0, dockerfile.indexOf('\nRUN npm ci\n'))
  for (const folder of packageFolders) expect(before).toContain(`\nCOPY ${folder}/package.json ${folder}/\n`)
})

test('the last stage of the Dockerfile has one file, an unprivileged user and a health check without a shell', () => {
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))
  expect(last.match(/^(?:COPY|ADD|RUN) .*$/gmu)).toEqual([
    'COPY --from=build /build/packages/server/dist/grantry.mjs /usr/local/lib/grantry/grantry.mjs',
  ])
  expect(last).toMatch(/^USER [1-9]\d*:[1-9]\d*$/mu)
  expect(last).toMatch(/^STOPSIGNAL SIGTERM$/mu)
  expect(last).toMatch(/^ {2}CMD \["node", "-e", ".*\/health\/live/mu)
})

test('the Dockerfile builds grantry.mjs from the files it copies, which .dockerignore does not exclude', async () => {
  const context = await mkdtemp(join(tmpdir(), 'grantry-image-'))
  try {
    const ignore = (await textOf('Dockerfile.dockerignore')).split('\n')
    for (const words of copies) {
      const [to = '', ...from] = words.reverse()
      for (const path of from) {
        expect(ignore.some((line) => line.startsWith('!') && `${path}/`.startsWith(`${line.slice(1)}/`))).toBe(true)
        const isFolder = (await stat(join(root, path))).isDirectory()
        const target = isFolder ? join(context, to) : join(context, to, path.split('/').at(-1) ?? '')
        const filter = (each: string): boolean => !/\/(?:dist|node_modules)$/u.test(each)
        await cp(join(root, path), target, { recursive: true, filter })
      }
    }
    // Instead of `npm ci`.
    await symlink(join(root, 'node_modules'), join(context, 'node_modules'))
    await symlink(join(root, 'packages/server/node_modules'), join(context, 'packages/server/node_modules'))
    expect(dockerfile).toContain('\nRUN npx tsup\n')
    await run(process.execPath, [join(root, 'node_modules/tsup/dist/cli-default.js')], { cwd: context })
    const { stdout } = await run(process.execPath, [join(context, 'packages/server/dist/grantry.mjs'), '--version'])
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/u)
  } finally {
    await rm(context, { recursive: true, force: true })
  }
})

const pinned = /^ [\w-]+\/[\w/-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/u

test.each(['ci', 'release', 'scorecard'])(
  'the workflow %s has few permissions, a time limit, and no action that can change',
  async (name) => {
    const text = await readFile(join(root, `.github/workflows/${name}.yml`), 'utf8')
    const { permissions, jobs } = parse(text)
    expect(permissions).toEqual(name === 'ci' ? { contents: 'read' } : {})
    for (const job of Object.values<{ readonly 'timeout-minutes'?: number }>(jobs)) {
      expect(job['timeout-minutes']).toBeGreaterThan(0)
    }
    // An action must be named by its commit: a tag can move. The comment lets a person, and a tool, compare it with a tag.
    expect([...text.matchAll(/uses:(.*)/gu)].filter(([, action = '']) => !pinned.test(action))).toEqual([])
    // What a stranger can choose, such as the title of a request, must not become a part of a script.
    expect(text).not.toMatch(/^ +(?:- )?run:.*\$\{\{/mu)
    expect(text).not.toContain('pull_request_target')
  },
)

test('compose.yaml conforms to the schema of the Compose specification and to the rules of its linter', () => {
  const files = new DCLinter({
    quiet: false,
    debug: false,
    exclude: [],
    rules: {
      // The proxy must be reachable from everywhere.
      'no-unbound-port-interfaces': 0,
      // The order is for readers.
      'service-keys-order': 0,
      'services-alphabetical-order': 0,
      'top-level-properties-order': 0,
    },
  }).lintFiles([`${root}/deploy/compose.yaml`], false)
  expect(files.flatMap(({ messages }) => messages.map(({ line, message }) => `${line}: ${message}`))).toEqual([])
  expect(files).toHaveLength(1)
})

test('a server in compose.yaml has a read-only file system, no root and no published port', () => {
  for (const name of ['grantry-1', 'grantry-2']) {
    expect(compose.services[name]).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
    expect(compose.services[name].security_opt).toContain('no-new-privileges:true')
    expect(compose.services[name].ports).toBeUndefined()
  }
  expect(compose.services.redis).toMatchObject({ networks: ['inside'], user: 'redis' })
  expect(compose.services.redis.ports).toBeUndefined()
  expect(compose.networks.inside.internal).toBe(true)
  expect(compose.services.proxy.networks).not.toContain('inside')
})

test('the configuration of compose.yaml is valid with the environment that compose.yaml sets', async () => {
  const { environment } = compose.services['grantry-1']
  const { configuration } = await loadConfiguration(`${root}/deploy/grantry.config.json`, {
    ...environment,
    GRANTRY_HOST: 'id.example.com',
    GRANTRY_REDIS_PASSWORD: 'instead of the file',
    GRANTRY_KEY_SECRET: 'instead of the file, thirty-two characters or more',
  })
  expect(configuration).toMatchObject({ issuer: 'https://id.example.com', trustedProxies: 1 })
  expect(configuration.storage).toMatchObject({ url: 'redis://redis:6379', password: 'instead of the file' })
  // Docker and systemd must wait for the full shutdown.
  const seconds = configuration.shutdownDelay + defaultDrain
  expect(Number.parseInt(compose.services['grantry-1'].stop_grace_period, 10)).toBeGreaterThan(seconds)
  expect(Number(/^TimeoutStopSec=(\d+)$/mu.exec(unit)?.[1])).toBeGreaterThan(seconds)
  // The proxy must complete another health check before the port closes.
  const [interval = 0, timeout = 0] = [
    ...(await textOf('Caddyfile')).matchAll(/health_(?:interval|timeout) (\d+)s/gu),
  ].map(([, seconds]) => Number(seconds))
  expect(configuration.shutdownDelay).toBeGreaterThan(interval + timeout)
})

const systemdMissing =
  spawnSync('systemd-analyze', ['--version']).status === 0
    ? undefined
    : 'systemd-analyze is not installed, and the check of the systemd unit needs it: apt-get install systemd'

describeWith(systemdMissing, 'systemd', () => {
  test('finds no problem in the unit', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'grantry-unit-'))
    try {
      const file = join(directory, 'grantry.service')
      // systemd checks that the program exists, which has another path here.
      await writeFile(file, unit.replace('/usr/bin/node', process.execPath))
      const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', file])
      expect(stdout + stderr).toBe('')
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  })
})

test('the unit gives the server a separate user, one writable directory and no other privileges', () => {
  for (const line of ['DynamicUser=yes', 'StateDirectory=grantry', 'ProtectSystem=strict', 'NoNewPrivileges=yes']) {
    expect(unit).toContain(`\n${line}\n`)
  }
})
