import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AtomicDriver } from '@grantry/core'
import { driverProofs } from '@grantry/testing/drivers'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWith } from '../support/describe-with.ts'
import { examplesPath, missingForExamples, missingRuntime } from './example-folders.ts'
import { type RunningExample, startExample } from './running-example.ts'

// Runs the conformance proofs that single use depends on with the driver of the Workers example, in workerd with the
// configuration of the example. All proofs take a minute and a half, because every item is a database on the disk:
// GRANTRY_WHOLE_KIT=1 npx vitest run test/examples/durable-object-driver.test.ts
const essential: ReadonlySet<string> = new Set([
  'lets exactly one of many concurrent inserts win',
  'lets exactly one insert replace an expired item',
  'expires an item after its ttl, neither earlier nor much later',
  'keeps an item for 40 days',
  'stores every hostile key separately or rejects it',
  'counts from 1 without gaps or duplicates under concurrent calls',
  'redeems a code once in 50 concurrent requests',
])

const serve = `workerd serve cloudflare-worker/config.capnp --socket-addr=http=127.0.0.1:$PORT --control-fd=1`

describeWith(missingForExamples() ?? missingRuntime(serve), 'the driver on Durable Objects', () => {
  // Has the directory layout of the examples, because the configuration refers to files by relative paths.
  let directory = ''
  let worker: RunningExample | undefined

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'grantry-durable-objects-'))
    mkdirSync(`${directory}/cloudflare-worker/dist/items`, { recursive: true })
    cpSync(`${examplesPath}/cloudflare-worker/config.capnp`, `${directory}/cloudflare-worker/config.capnp`)
    await build({
      entryPoints: [fileURLToPath(new URL('./item-worker.js', import.meta.url))],
      outfile: `${directory}/cloudflare-worker/dist/worker.js`,
      bundle: true,
      platform: 'neutral',
      format: 'esm',
      external: ['cloudflare:workers'],
      logLevel: 'error',
    })
    worker = await startExample(serve, { cwd: directory })
    await worker.ready
    process.env.GRANTRY_TEST_ITEMS = worker.base
  })
  afterAll(async () => {
    delete process.env.GRANTRY_TEST_ITEMS
    try {
      await worker?.stop()
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })

  const module = new URL('./item-driver.js', import.meta.url)
  const open = async (): Promise<AtomicDriver> => (await import(module.href)).open()

  const all = driverProofs({ open, module, operationTimeout: 30 }).filter(({ skipReason }) => skipReason === undefined)
  const proofs = process.env.GRANTRY_WHOLE_KIT === '1' ? all : all.filter(({ name }) => essential.has(name))
  test('runs every essential proof', () => expect(proofs.length).toBeGreaterThanOrEqual(essential.size))
  test.each(proofs)('$name', ({ prove }) => prove(), 120_000)
})
