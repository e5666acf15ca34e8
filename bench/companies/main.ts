// Compares Grantry with the servers that companies run, on one PostgreSQL.
//
// npm run bench:companies -- [--hydra <binary>] [--results]
//   [--servers grantry,oidc-provider] [--only refresh,userinfo] [--warmup 2] [--seconds 0.7] [--rounds 3]
//
// Hydra is brought by hand. Without its path, it is left out.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { buildIfStale } from '../../scripts/build-if-stale.js'
import { postgresqlMissing } from '../../test/support/postgresql-process.ts'
import { plainText } from '../report/section.ts'
import { startBenchPostgresql } from '../run/bench-postgresql.ts'
import { openBundles } from '../run/bundles.ts'
import { startGenerator } from '../run/generator.ts'
import { installDependencies } from '../run/install-dependencies.ts'
import { moveToCore, pinToCore } from '../run/pin-to-core.ts'
import { companiesDocument, companySections } from './document.ts'
import type { CompanyFigures, CompanyResults } from './figures.ts'
import { hydraServers } from './hydra.ts'
import { measureServer } from './measure-server.ts'
import { benchFolder as bench, nodeServers, resultsFile } from './node-servers.ts'
import type { CompanyServer } from './server.ts'
import { usersTableText } from './users-table.ts'

const { values } = parseArgs({
  options: {
    hydra: { type: 'string' },
    results: { type: 'boolean', default: false },
    servers: { type: 'string' },
    only: { type: 'string' },
    warmup: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '0.7' },
    rounds: { type: 'string', default: '3' },
  },
})
const plan = {
  warmup: Number(values.warmup),
  seconds: Number(values.seconds),
  rounds: Number(values.rounds),
  connections: 32,
  races: 5,
}
if (process.platform !== 'linux') throw new Error('The benchmark requires Linux, because it uses /proc')
if (postgresqlMissing !== undefined) throw new Error(postgresqlMissing)
const [loadBefore = 0] = loadavg()
if (loadBefore > 0.5) process.stderr.write(`Warning: the machine is not idle (load average ${loadBefore.toFixed(2)})\n`)
installDependencies(new URL('peers/', bench))
buildIfStale()

// Beside the load generator: the applications of servers without pages run in this process.
moveToCore(1, process.pid)
const bundles = openBundles(bench)
const generator = startGenerator(pinToCore(1, [process.execPath, await bundles.bundle('load/program.ts')]))
const store = await startBenchPostgresql(1)
const all: readonly CompanyServer[] = [
  ...nodeServers(bench, bundles),
  ...(values.hydra === undefined ? [] : hydraServers(values.hydra)),
]
const wanted = all.filter(({ name }) => values.servers?.split(',').includes(name) ?? true)
const leftOut = values.hydra === undefined ? ['hydra, no path was given'] : []
const servers: CompanyFigures[] = []

/** Creates a database with the table of users. */
async function newDatabase(name: string): Promise<string> {
  await store.ask(`CREATE DATABASE ${name}`)
  await store.askIn(name, usersTableText())
  return store.urlOf(name)
}

try {
  for (const [index, server] of wanted.entries()) {
    process.stderr.write(`${server.name} …\n`)
    const url = await newDatabase(`company_${index}`)
    const isWanted = (operation: string): boolean => values.only?.split(',').includes(operation) ?? true
    servers.push(await measureServer(server, url, generator, plan, isWanted))
  }
} finally {
  generator.stop()
  await store.stop()
  bundles.remove()
}

const [{ model = 'an unknown processor' } = {}, ...more] = cpus()
const git = (...parameters: readonly string[]): string =>
  spawnSync('git', ['-C', fileURLToPath(bench), ...parameters], { encoding: 'utf8' }).stdout.trim()
/** The paths of the binaries belong to the machine. */
const parameters = process.argv.slice(2).map((text) => (text.includes('/') ? text.replace(/\/.*$/u, '…') : text))
const results: CompanyResults = {
  date: new Date().toISOString().slice(0, 10),
  commit: git('rev-parse', '--short', 'HEAD'),
  command: ['npm run bench:companies --', ...parameters].join(' '),
  machine: `${model}, ${more.length + 1} cores, ${Math.round(totalmem() / 2 ** 30)} GB, Linux ${release()}, Node ${process.version}`,
  loadBefore,
  loadAfter: loadavg()[0] ?? 0,
  servers,
  owners: 'different',
  leftOut,
}
for (const section of companySections(results)) process.stdout.write(plainText(section))
for (const reason of leftOut) process.stdout.write(`left out: ${reason}\n`)
if (values.results) {
  writeFileSync(resultsFile, JSON.stringify(results, undefined, 2))
  spawnSync(fileURLToPath(new URL('../node_modules/.bin/biome', bench)), ['format', '--write', resultsFile])
  writeFileSync(new URL('COMPANIES.md', bench), companiesDocument(results))
}
