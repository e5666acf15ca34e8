// Benchmarks Grantry against a minimal server and against other libraries.
//
// npm run bench -- [--store memory | redis | postgresql | all] [--quick] [--results]
//   [--sections operations,floor,redis,start,size,memory]   with --store redis: operations,races,scale; postgresql: operations,races
//   [--only refresh] [--servers grantry-node,limit-node] [--seconds 1.25] [--warmup 5] [--rounds 5]
import { existsSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { buildIfStale } from '../scripts/build-if-stale.js'
import { postgresqlMissing } from '../test/support/postgresql-process.ts'
import { redisMissing } from '../test/support/redis-server.ts'
import { operationNames } from './operations.ts'
import { resultsDocument } from './report/results-document.ts'
import { plainText, type Section } from './report/section.ts'
import { openBundles } from './run/bundles.ts'
import { startGenerator } from './run/generator.ts'
import { installDependencies } from './run/install-dependencies.ts'
import { pinToCore } from './run/pin-to-core.ts'
import { interpreter, type Server, servers } from './run/servers.ts'
import { floorSection } from './sections/floor-section.ts'
import { memorySection } from './sections/memory-section.ts'
import { operationSections } from './sections/operation-sections.ts'
import { raceSection } from './sections/race-section.ts'
import { redisSection } from './sections/redis-section.ts'
import { scaleSection } from './sections/scale-section.ts'
import { sizeSection } from './sections/size-section.ts'
import { startSection } from './sections/start-section.ts'
import { postgresqlBench, redisBench, type StoreBench } from './sections/store-bench.ts'
import { storeOperationSections } from './sections/store-operation-sections.ts'
import type { Workbench } from './sections/workbench.ts'

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'memory' },
    quick: { type: 'boolean', default: false },
    results: { type: 'boolean', default: false },
    sections: { type: 'string' },
    only: { type: 'string' },
    servers: { type: 'string' },
    seconds: { type: 'string' },
    warmup: { type: 'string' },
    rounds: { type: 'string' },
  },
})
const { quick, store: storeOption } = values
const storeNames = ['memory', 'redis', 'postgresql'] as const
type StoreName = (typeof storeNames)[number]
const stores = storeNames.filter((name) => storeOption === 'all' || storeOption === name)
if (stores.length === 0) throw new Error(`--store must be ${storeNames.join(', ')} or all`)
const loadBefore = loadavg()[0] ?? 0
const bench = new URL('./', import.meta.url)
const isWanted = (operation: string): boolean => values.only?.split(',').includes(operation) ?? true
const measured = (all: readonly Server[], quickly: boolean): readonly Server[] =>
  all.filter(({ name, runtime }) => values.servers?.split(',').includes(name) ?? (!quickly || runtime === 'node'))

function planOf(store: StoreName) {
  const quickPlan =
    store === 'memory' ? { seconds: 0.5, warmup: 1.5, rounds: 3 } : { seconds: 1, warmup: 0.5, rounds: 1 }
  const defaults = quick ? quickPlan : { seconds: 1.25, warmup: 5, rounds: 5 }
  return {
    seconds: Number(values.seconds ?? defaults.seconds),
    warmup: Number(values.warmup ?? defaults.warmup),
    rounds: Number(values.rounds ?? defaults.rounds),
    connections: 32,
  }
}

/** The sections of every store that servers share. */
const sharedSections = (storeBench: StoreBench) => ({
  operations: (workbench: Workbench) =>
    storeOperationSections(
      storeBench,
      workbench,
      storeBench.operations.filter(isWanted),
      measured(storeBench.servers, quick),
    ),
  races: (workbench: Workbench) => raceSection(storeBench, workbench, measured(storeBench.servers, quick)),
})

const sectionsOf = {
  memory: {
    operations: (workbench: Workbench) =>
      operationSections(workbench, operationNames.filter(isWanted), measured(servers, quick)),
    floor: floorSection,
    redis: redisSection,
    start: startSection,
    size: sizeSection,
    memory: memorySection,
  },
  redis: { ...sharedSections(redisBench), scale: scaleSection },
  postgresql: sharedSections(postgresqlBench),
}
const wantedOf = (store: StoreName): readonly string[] =>
  values.sections?.split(',') ?? (quick && store === 'memory' ? ['operations', 'size'] : Object.keys(sectionsOf[store]))
const usesRedis = stores.includes('redis')
const missing = { memory: undefined, redis: redisMissing, postgresql: postgresqlMissing }

/**
 * Prefers Bun, on which the generator reaches 135,000 requests per second on this machine; on Node it reaches 105,000.
 */
function generatorCommand(): readonly string[] {
  const bun = interpreter('bun', bench)
  return existsSync(bun[0] ?? '') ? bun : interpreter('node', bench)
}

if (process.platform !== 'linux') throw new Error('The benchmark requires Linux, because it uses taskset and /proc')
if (availableParallelism() < 2)
  throw new Error('The benchmark requires two CPU cores, one for the server and one for the load generator')
for (const store of stores) if (missing[store] !== undefined) throw new Error(missing[store])
if (loadBefore > 0.5) process.stderr.write(`Warning: the machine is not idle (load average ${loadBefore.toFixed(2)})\n`)
installDependencies(new URL('peers/', bench))
// The other benchmarks need Bun only for its generator.
if (!quick && stores.includes('memory')) installDependencies(new URL('../runtimes/', bench))
// For `grantry serve`.
if (usesRedis && wantedOf('redis').some((name) => name !== 'scale')) buildIfStale()

const bundles = openBundles(bench)
const generator = startGenerator(pinToCore(1, [...generatorCommand(), await bundles.bundle('load/program.ts')]))
const sections: Section[] = []
try {
  for (const store of stores) {
    for (const [name, open] of Object.entries(sectionsOf[store])) {
      if (!wantedOf(store).includes(name)) continue
      for await (const section of open({ bench, bundles, generator, plan: planOf(store) })) {
        sections.push(section)
        process.stdout.write(plainText(section))
        for (const failure of section.failures ?? []) {
          process.exitCode = 1
          process.stderr.write(`${failure}\n`)
        }
      }
    }
  }
} finally {
  generator.stop()
  bundles.remove()
}
if (values.results) {
  writeFileSync(
    new URL('RESULTS.md', bench),
    resultsDocument(
      bench,
      sections,
      process.argv.slice(2),
      loadBefore,
      stores.length > 1 || !stores.includes('memory'),
    ),
  )
}
