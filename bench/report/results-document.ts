import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { programOf } from '../../test/support/postgresql-process.ts'
import { interpreter } from '../run/servers.ts'
import { markdown, type Section, wrap } from './section.ts'

const commandOutput = (command: string, ...parameters: readonly string[]): string => {
  const { stdout, status } = spawnSync(command, parameters, { encoding: 'utf8' })
  return status === 0 ? (stdout.trim().split('\n')[0] ?? '') : 'none'
}

function versions(bench: URL): readonly string[] {
  const { dependencies } = JSON.parse(readFileSync(new URL('peers/package.json', bench), 'utf8'))
  const runtime = (name: 'bun' | 'deno'): string => commandOutput(interpreter(name, bench)[0] ?? '', '--version')
  return [
    `Node ${process.version}, Bun ${runtime('bun')}, Deno ${runtime('deno').replace(/^deno (\S+).*$/u, '$1')}`,
    Object.entries(dependencies)
      .map(([name, version]) => `${name} ${version}`)
      .join(', '),
    `Redis ${/v=(\S+)/u.exec(commandOutput('redis-server', '--version'))?.[1] ?? 'none'}`,
    `PostgreSQL ${/(\d[\d.]*)/u.exec(commandOutput(programOf('postgres'), '--version'))?.[1] ?? 'none'}`,
    `commit ${commandOutput('git', '-C', fileURLToPath(bench), 'rev-parse', '--short', 'HEAD')}`,
  ]
}

/** Returns the machine, versions and options of the run. */
function environmentFacts(bench: URL, parameters: readonly string[], loadBefore: number): readonly string[] {
  const [{ model = 'an unknown processor' } = {}, ...more] = cpus()
  return [
    `\`npm run bench -- ${parameters.join(' ')}\`, ${new Date().toISOString().slice(0, 10)}`,
    `${model}, ${more.length + 1} cores, ${Math.round(totalmem() / 2 ** 30)} GB, Linux ${release()}`,
    `load average before the run ${loadBefore.toFixed(2)}, after it ${(loadavg()[0] ?? 0).toFixed(2)}`,
    ...versions(bench),
  ]
}

const reading = `
Each server runs alone on one core and the load generator on another, with 32 connections, one
request at a time on each. Every response is checked. All servers are started and warmed up, then
measured alternately, each time after half a second of load; a figure is the median of its rounds.
\`limit\` does the minimum of a correct server (it parses the form, hashes the secret, creates random
tokens, stores JSON under their hashes, signs) without protocol checks. "of limit" is the share of
the limit's requests per second on the same runtime; "by CPU" is the same by CPU time, which a busy
machine distorts less. "core" and "generator" are the load of their cores: if the generator is near
100%, the server could do more. In memory, the generator polls its sockets instead of sleeping,
because waking it would be charged to the server: a fifth of its CPU time, and more for a slower
server.
`

const readingOnStores = `
Redis, without persistence, and PostgreSQL run on the core of the load generator. "store" is their
load of that core, "store us" their CPU microseconds per request. "calls" are commands or statements
per request under load, where the driver reads the items of concurrent requests together.
`

/** Returns the text of `bench/RESULTS.md`. */
export function resultsDocument(
  bench: URL,
  sections: readonly Section[],
  parameters: readonly string[],
  loadBefore: number,
  onStore: boolean,
): string {
  const facts = environmentFacts(bench, parameters, loadBefore).map((fact) => wrap(`- ${fact}`, '  '))
  const ordered = [...sections].sort((first, second) => Number(second.leads ?? false) - Number(first.leads ?? false))
  const heading = ['# Results of `npm run bench`', '', ...facts]
  return [...heading, onStore ? `${reading}${readingOnStores}` : reading, ordered.map(markdown).join('\n')].join('\n')
}
