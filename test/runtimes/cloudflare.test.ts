// `@grantry/cloudflare` in workerd, with D1: its client is that of workerd, and the database behind it that of the test.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BuildOptions } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Program, startProgram } from '../contract/program.ts'
import { bundle } from '../support/bundle.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'

const workerd = runtimeExecutable('.bin/workerd')

const configuration = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "schedule", worker = .schedule),
    (name = "provider", worker = .provider),
    (name = "d1", worker = .d1),
    (name = "disk", disk = (path = "DISK", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "schedule")]
);
const schedule :Workerd.Worker = (
  modules = [(name = "schedule.mjs", esModule = embed "schedule.mjs")],
  compatibilityDate = "2026-10-01",
  compatibilityFlags = ["service_binding_extra_handlers"],
  bindings = [(name = "PROVIDER", service = "provider")],
);
const provider :Workerd.Worker = (
  modules = [(name = "program.mjs", esModule = embed "program.mjs")],
  compatibilityDate = "2026-10-01",
  bindings = [
    (name = "DB", wrapped = (moduleName = "cloudflare-internal:d1-api", innerBindings = [(name = "fetcher", service = "d1")])),
    (name = "KEY_SECRET", text = "a secret of at least thirty-two characters"),
  ],
);
const d1 :Workerd.Worker = (
  modules = [(name = "d1-server.mjs", esModule = embed "d1-server.mjs")],
  compatibilityDate = "2026-10-01",
  bindings = [(name = "DATABASE", durableObjectNamespace = "DatabaseObject")],
  durableObjectNamespaces = [(className = "DatabaseObject", uniqueKey = "database", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
);
`

async function startWorkers(): Promise<Program> {
  const forWorkers: BuildOptions = {
    platform: 'neutral',
    target: 'es2022',
    conditions: ['@grantry/source', 'workerd', 'worker', 'import'],
    external: ['node:*'],
    banner: {},
  }
  const directory = dirname(await bundle(new URL('./programs/cloudflare-worker.ts', import.meta.url), forWorkers))
  const others = {
    'schedule.mjs': './programs/cloudflare-schedule.ts',
    'd1-server.mjs': '../sqlite/workers/d1-server.ts',
  }
  for (const [name, source] of Object.entries(others)) {
    await bundle(new URL(source, import.meta.url), { ...forWorkers, outfile: join(directory, name) })
  }
  const disk = join(directory, 'disk')
  await mkdir(disk)
  const file = join(directory, 'config.capnp')
  await writeFile(file, configuration.replace('DISK', disk))
  return startProgram(workerd, ['serve', file, '--control-fd=3', '--experimental'])
}

describeWithRuntime('a Worker with D1', workerd, () => {
  let program: Program
  beforeAll(async () => {
    program = await startWorkers()
  })
  afterAll(() => program?.stop())

  const send = (path: string, form?: Record<string, string>): Promise<Response> =>
    fetch(`http://127.0.0.1:${program.port}${path}`, {
      headers: { host: 'id.example.com', authorization: `Basic ${btoa('app:app-secret')}` },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
  const textOf = async (path: string): Promise<string> => (await send(path)).text()

  test('serves concurrent first requests, and then keeps one provider for all', async () => {
    const bodies: readonly string[] = JSON.parse(await textOf('/many'))
    expect(bodies).toHaveLength(20)
    // Each of them created a provider, and all of them read the same keys.
    expect([...new Set(bodies)]).toEqual([expect.stringMatching(/^200 .*"kid"/u)])
    const { opened, closed } = JSON.parse(await textOf('/state'))
    expect(opened).toBeGreaterThan(1)
    // What the others had opened is closed.
    expect(closed).toBe(opened - 1)
    for (let index = 0; index < 5; index += 1) await send('/.well-known/jwks')
    expect(JSON.parse(await textOf('/state')).opened).toBe(opened)
  })

  test('lets exactly one of many concurrent redemptions of a code win', async () => {
    for (let round = 0; round < 3; round += 1) {
      const code = await textOf('/code')
      const redeem = () =>
        send('/connect/token', {
          grant_type: 'authorization_code',
          code,
          redirect_uri: 'https://app.example.com/callback',
        })
      const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await redeem()).status))
      expect(statuses.filter((status) => status === 200)).toHaveLength(1)
      expect(statuses.filter((status) => status === 400)).toHaveLength(19)
    }
  })

  test('hashes and checks passwords', async () => {
    expect(await textOf('/user')).toBe('created')
    const signIn = async (username: string, password: string): Promise<number> =>
      (await send('/connect/token', { grant_type: 'password', username, password, scope: 'api1' })).status
    expect(await signIn('alice', 'alice-password')).toBe(200)
    expect(await signIn('alice', 'guess')).toBe(400)
    expect(await signIn('bob', 'alice-password')).toBe(400)
  })

  test('removes expired items on a schedule', async () => {
    await send('/expired')
    expect(JSON.parse(await textOf('/state')).expired).toBeGreaterThan(0)
    expect(await textOf('/schedule')).toBe('ok')
    expect(JSON.parse(await textOf('/state')).expired).toBe(0)
    expect(program.console()).toBe('')
  })
})
