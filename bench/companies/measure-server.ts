import type { JsonWebKey } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { presentation, requestOf } from '../operations.ts'
import { median } from '../report/figures.ts'
import type { Generator } from '../run/generator.ts'
import { tokensFor } from '../run/present-tokens.ts'
import { cpuOf, cpuOfEnded, memoryOf, treeOf } from '../run/process-figures.ts'
import { newSetting, publicKeyOf, type Setting } from '../setting.ts'
import { ask } from './ask.ts'
import { type CompanyFigures, type CompanyOperation, type Cost, companyOperationNames } from './figures.ts'
import { measureRaces } from './measure-races.ts'
import type { CompanyProcess, CompanyServer, PublishedKeys } from './server.ts'
import { usersTable } from './users-table.ts'

export interface CompanyPlan {
  /** Seconds of load before each operation, and in each round. */
  readonly warmup: number
  readonly seconds: number
  readonly rounds: number
  readonly connections: number
  /** How often 20 requests redeem one credential. */
  readonly races: number
}

/** Milliseconds between the first token and the reading of the idle memory. */
const settled = 500

const sumOf = (process: CompanyProcess, figure: (pid: number) => number): number =>
  treeOf(process.pid).reduce((sum, pid) => sum + figure(pid), 0)

/** CPU seconds of everything that the server has started. */
const treeCpu = (process: CompanyProcess): number => sumOf(process, (pid) => cpuOf(pid) + cpuOfEnded(pid))

/** Returns the key that signs the JWTs of a server. */
async function signingKey({ jwks }: CompanyServer, { port, dialect }: CompanyProcess, setting: Setting) {
  if (jwks === undefined) return publicKeyOf(setting)
  const { body } = await ask(port, requestOf('client-credentials-es256', '', dialect))
  const token = (JSON.parse(body) as { readonly access_token?: string }).access_token ?? ''
  const { kid } = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString() || '{}')
  const published = JSON.parse((await ask(port, `GET ${jwks} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`)).body)
  const key = (published as PublishedKeys).keys.find((each) => each.kid === kid)
  if (key === undefined) throw new Error(`No published key for the JWT: ${body.slice(0, 300)}`)
  return key
}

/** Loads a server with one operation. @throws Error when a response is wrong. */
async function measureCost(
  name: string,
  process: CompanyProcess,
  operation: CompanyOperation,
  generator: Generator,
  plan: CompanyPlan,
  publicKey: JsonWebKey,
): Promise<Cost> {
  const { dialect = {}, port, ports = {} } = process
  const common = {
    operation,
    ports: [ports[operation] ?? port],
    connections: plan.connections,
    publicKey,
    dialect,
    differs: true,
  }
  let tokens = await tokensFor(process, operation, plan.connections)

  async function load(seconds: number): Promise<Cost> {
    const before = treeCpu(process)
    const figures = await generator.run({ ...common, seconds, tokens })
    const used = treeCpu(process) - before
    if (figures.failures > 0) throw new Error(`${name}, ${operation}: ${figures.firstFailure}`)
    if (presentation(operation) === 'rotated') tokens = figures.tokens
    return { cpu: (used * 1e6) / figures.requests, requestsPerSecond: figures.requests / figures.seconds }
  }

  await load(plan.warmup)
  const rounds: Cost[] = []
  for (let round = 0; round < plan.rounds; round += 1) rounds.push(await load(plan.seconds))
  const middle = (figure: keyof Cost): number => median(rounds.map((each) => each[figure]))
  return { cpu: middle('cpu'), requestsPerSecond: middle('requestsPerSecond') }
}

/** Gets the first token of a process, and returns the milliseconds since its start. */
async function firstToken({ lacks = [] }: CompanyServer, process: CompanyProcess): Promise<number> {
  const operation = lacks.includes('client-credentials-opaque')
    ? 'client-credentials-es256'
    : 'client-credentials-opaque'
  const { status, body } = await ask(process.port, requestOf(operation, '', process.dialect))
  if (status !== 200) throw new Error(`No first token: status ${status} ${body.slice(0, 300)}`)
  return performance.now() - process.startedAt
}

/**
 * Measures one server on a database of its own.
 *
 * @throws Error when a response is wrong or the server fails.
 */
export async function measureServer(
  server: CompanyServer,
  storeUrl: string,
  generator: Generator,
  plan: CompanyPlan,
  isWanted: (operation: CompanyOperation) => boolean,
): Promise<CompanyFigures> {
  const { name, version, lacks = [], apart = [] } = server
  const supported = companyOperationNames.filter((operation) => isWanted(operation) && !lacks.includes(operation))
  const together = supported.filter((operation) => !apart.includes(operation))
  const ownPlan = { ...plan, warmup: plan.warmup * (server.warmup ?? 1) }
  const costs: Partial<Record<CompanyOperation, Cost>> = {}

  async function run<T>(operation: CompanyOperation, use: (process: CompanyProcess, setting: Setting) => Promise<T>) {
    const setting = newSetting(operation, { storeUrl, usersTable })
    const process = await server.launch(setting)
    try {
      return await use(process, setting)
    } finally {
      await process.stop()
    }
  }
  const measure = async (operation: CompanyOperation, process: CompanyProcess, setting: Setting): Promise<void> => {
    const key = await signingKey(server, process, setting)
    costs[operation] = await measureCost(name, process, operation, generator, ownPlan, key)
  }

  // The first start creates its tables.
  await run('sign-in', (process) => firstToken(server, process))
  for (const operation of supported.filter((each) => apart.includes(each)))
    await run(operation, (process, setting) => measure(operation, process, setting))
  const rest = await run('sign-in', async (process, setting) => {
    const startup = await firstToken(server, process)
    await sleep(settled)
    const idleMemory = sumOf(process, memoryOf)
    for (const operation of together) await measure(operation, process, setting)
    const loadedMemory = sumOf(process, memoryOf)
    return { firstToken: startup, idleMemory, loadedMemory, races: await measureRaces(process, plan.races) }
  })
  return { name, version, costs, disk: server.disk(), ...rest }
}
