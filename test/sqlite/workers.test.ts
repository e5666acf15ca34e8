// The drivers for D1 and Durable Objects pass the conformance kit in workerd. The client of D1 is the one of workerd; the
// database behind it is that of the test.
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BuildOptions, PluginBuild } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Program, startProgram } from '../contract/program.ts'
import { bundle } from '../support/bundle.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'

const executable = runtimeExecutable('.bin/workerd')

const configuration = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "d1", worker = .d1),
    (name = "disk", disk = (path = "DISK", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const main :Workerd.Worker = (
  modules = [(name = "program.mjs", esModule = embed "program.mjs")],
  compatibilityDate = "2026-10-01",
  bindings = [
    (name = "DB", wrapped = (moduleName = "cloudflare-internal:d1-api", innerBindings = [(name = "fetcher", service = "d1")])),
    (name = "OBJECT", durableObjectNamespace = "ProviderObject"),
  ],
  durableObjectNamespaces = [(className = "ProviderObject", uniqueKey = "provider", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
);
const d1 :Workerd.Worker = (
  modules = [(name = "d1-server.mjs", esModule = embed "d1-server.mjs")],
  compatibilityDate = "2026-10-01",
  bindings = [(name = "DATABASE", durableObjectNamespace = "DatabaseObject")],
  durableObjectNamespaces = [(className = "DatabaseObject", uniqueKey = "database", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
);
`

// The proofs between processes import it, and do not run here.
const withoutProcesses = {
  name: 'without-processes',
  setup(build: PluginBuild) {
    build.onResolve({ filter: /^node:child_process$/ }, ({ path }) => ({ path, namespace: 'absent' }))
    build.onLoad({ filter: /.*/, namespace: 'absent' }, () => ({
      contents: 'export const spawn = () => { throw new Error("there are no processes") }',
    }))
  },
}

async function startWorkers(): Promise<Program> {
  const forWorkers: BuildOptions = {
    platform: 'neutral',
    target: 'es2022',
    conditions: ['@grantry/source', 'workerd', 'worker', 'import'],
    banner: {},
    plugins: [withoutProcesses],
  }
  const script = await bundle(new URL('./workers/program.ts', import.meta.url), forWorkers)
  const directory = dirname(script)
  await bundle(new URL('./workers/d1-server.ts', import.meta.url), {
    ...forWorkers,
    outfile: join(directory, 'd1-server.mjs'),
  })
  const disk = join(directory, 'disk')
  await mkdir(disk)
  const file = join(directory, 'config.capnp')
  await writeFile(file, configuration.replace('DISK', disk))
  return startProgram(executable, ['serve', file, '--control-fd=3'])
}

describeWithRuntime('workerd', executable, () => {
  let program: Program
  beforeAll(async () => {
    program = await startWorkers()
  })
  afterAll(() => program?.stop())

  test.each([
    ['D1', 'd1', 'd1'],
    ['the SQLite of a Durable Object', 'object', 'durable-object'],
  ])('the driver for %s passes the conformance kit', async (_what, path, name) => {
    const response = await fetch(`http://127.0.0.1:${program.port}/${path}`)
    expect(await response.text()).toMatch(new RegExp(`^${name}: \\d+ passed, 0 failed, \\d+ skipped$`, 'u'))
  })

  test('copyItems() copies to D1 and from it', async () => {
    const response = await fetch(`http://127.0.0.1:${program.port}/copy`)
    expect(await response.text()).toBe('1102 items, 1102 and 1102, changed: ')
  })
})
