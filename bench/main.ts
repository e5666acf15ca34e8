// Benchmarks Grantry against a minimal server and against other libraries. `npm run bench -- [--quick] [--results]`;
// [--sections operations,floor,redis,start,size,memory] [--only refresh] [--servers grantry-node,limit-node] [--seconds
// 1.25] [--warmup 3] [--rounds 5].
import { existsSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { operationNames } from './operations.ts'
import { resultsDocument } from './report/results-document.ts'
import { plainText, type Section } from './report/section.ts'
import { openBundles } from './run/bundles.ts'
import { startGenerator } from './run/generator.ts'
import { installDependencies } from './run/install-dependencies.ts'
import { pinToCore } from './run/pin-to-core.ts'
import { interpreter, servers } from './run/servers.ts'
import { floorSection } from './sections/floor-section.ts'
import { memorySection } from './sections/memory-section.ts'
import { operationSections } from './sections/operation-sections.ts'
import { redisSection } from './sections/redis-section.ts'
import { sizeSection } from './sections/size-section.ts'
import { startSection } from './sections/start-section.ts'
import type { Workbench } from './sections/workbench.ts'

const { values } = parseArgs({
  options: {
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
const { quick } = values
const loadBefore = loadavg()[0] ?? 0
const bench = new URL('./', import.meta.url)
const plan = {
  seconds: Number(values.seconds ?? (quick ? 0.5 : 1.25)),
  warmup: Number(values.warmup ?? (quick ? 1.5 : 3)),
  rounds: Number(values.rounds ?? (quick ? 3 : 5)),
  connections: 32,
}
const operations = operationNames.filter((name) => values.only?.split(',').includes(name) ?? true)
const measured = servers.filter(
  ({ name, runtime }) => values.servers?.split(',').includes(name) ?? (!quick || runtime === 'node'),
)
const all = {
  operations: (workbench: Workbench) => operationSections(workbench, operations, measured),
  floor: floorSection,
  redis: redisSection,
  start: startSection,
  size: sizeSection,
  memory: memorySection,
}
const wanted = values.sections?.split(',') ?? (quick ? ['operations', 'size'] : Object.keys(all))

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
if (loadBefore > 0.5) process.stderr.write(`Warning: the machine is not idle (load average ${loadBefore.toFixed(2)})\n`)
installDependencies(new URL('peers/', bench))
if (!quick) installDependencies(new URL('../runtimes/', bench))

const bundles = openBundles(bench)
const generator = startGenerator(pinToCore(1, [...generatorCommand(), await bundles.bundle('load/program.ts')]))
const sections: Section[] = []
try {
  for (const [name, open] of Object.entries(all)) {
    if (!wanted.includes(name)) continue
    for await (const section of open({ bench, bundles, generator, plan })) {
      sections.push(section)
      process.stdout.write(plainText(section))
      for (const failure of section.failures ?? []) {
        process.exitCode = 1
        process.stderr.write(`${failure}\n`)
      }
    }
  }
} finally {
  generator.stop()
  bundles.remove()
}
if (values.results) {
  writeFileSync(new URL('RESULTS.md', bench), resultsDocument(bench, sections, process.argv.slice(2), loadBefore))
}
