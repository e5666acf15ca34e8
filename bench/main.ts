// How fast is Grantry, beside the least that any server must do, and beside others?
// `npm run bench -- [--quick] [--seconds 2] [--rounds 5] [--only refresh] [--servers grantry-node,limit-node] [--json]`
import { parseArgs } from 'node:util'
import { operationNames } from './operations.ts'
import { layOut, operationRows } from './report/tables.ts'
import { openBundles } from './run/bundle.ts'
import { startGenerator } from './run/generator.ts'
import { measureOperation, type Plan, type ServerFigures } from './run/measure.ts'
import { commandOf, servers } from './run/servers.ts'

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    seconds: { type: 'string' },
    warmup: { type: 'string' },
    rounds: { type: 'string' },
    only: { type: 'string', default: operationNames.join(',') },
    servers: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
})

const plan: Plan = {
  seconds: Number(values.seconds ?? (values.quick ? 1 : 2)),
  warmup: Number(values.warmup ?? (values.quick ? 2 : 4)),
  rounds: Number(values.rounds ?? (values.quick ? 3 : 5)),
  connections: 32,
}
const only = values.only.split(',')
const operations = operationNames.filter((name) => only.includes(name))
const wanted = (
  values.servers ?? (values.quick ? 'limit-node,grantry-node' : servers.map(({ name }) => name).join(','))
).split(',')

const print = (line: string): void => {
  if (!values.json) process.stdout.write(`${line}\n`)
}

const bench = new URL('./', import.meta.url)
const bundles = openBundles(bench)
const all: ServerFigures[] = []
try {
  const generator = startGenerator([process.env.GEN ?? process.execPath, await bundles.bundle('load/program.ts')], 1)
  try {
    for (const operation of operations) {
      const commands = new Map<string, readonly string[]>()
      for (const server of servers) {
        if (!wanted.includes(server.name) || server.lacks?.includes(operation)) continue
        commands.set(server.name, await commandOf(server, bundles, bench))
      }
      const figures = await measureOperation(operation, commands, generator, plan)
      all.push(...figures)
      print(`\n${operation}`)
      print(layOut(operationRows(figures)))
      for (const { server, failures, firstFailure } of figures) {
        if (failures === 0) continue
        process.exitCode = 1
        process.stderr.write(`${server}, ${operation}: ${failures} wrong answers, the first: ${firstFailure}\n`)
      }
    }
  } finally {
    generator.stop()
  }
} finally {
  bundles.remove()
}
if (values.json) process.stdout.write(`${JSON.stringify(all, null, 2)}\n`)
