import { type ChildProcess, fork } from 'node:child_process'
import { scryptSync } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { sha256Of } from '@grantry/testing'
import { bundleWithPackages } from '../../test/support/bundle-with-packages.ts'
import type { NetworkStore } from '../../test/support/network-stores.ts'
import { pause } from '../../test/support/pause.ts'

/** The program of a server process. */
export const serverProgram = (): Promise<string> => bundleWithPackages(new URL('./programs/server.ts', import.meta.url))

/** Failed secrets that an address may try in `secretWindow` seconds. */
export const secretFailures = 10
export const secretWindow = 2

const attacker = '203.0.113.66'
/** Concurrent requests of the attackers, for passwords and for secrets. */
const attackersAtOnce = 6

/** Milliseconds of each request of the other user and client, and their responses. */
export interface Bystanders {
  readonly login: readonly number[]
  readonly token: readonly number[]
  readonly statuses: ReadonlySet<number>
}

export interface BruteForce {
  readonly before: Bystanders
  readonly during: Bystanders
  /** Seconds of the attack, and the times of its first and last response, as epoch seconds. */
  readonly seconds: number
  readonly begun: number
  readonly ended: number
  /** Number of responses to the attackers, by status. */
  readonly passwords: ReadonlyMap<number, number>
  readonly secrets: ReadonlyMap<number, number>
}

/** The lowest cost that the server accepts: this measures the limits, not the hashing. */
function cheapHash(password: string): string {
  const salt = Buffer.alloc(16, password)
  const hash = scryptSync(password, salt, 32, { N: 2 ** 10, r: 8, p: 1 })
  const text = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')
  return `$scrypt$ln=10,r=8,p=1$${text(salt)}$${text(hash)}`
}

function configurationOf(storage: NetworkStore): object {
  const client = (clientId: string, grantTypes: readonly string[]) => ({
    clientId,
    secrets: [{ sha256: sha256Of(`${clientId}-secret`) }],
    grantTypes,
    scopes: ['api1'],
  })
  const user = (username: string) => ({ sub: username, username, password: cheapHash(`${username}-password`) })
  return {
    issuer: 'https://id.example.com',
    storage,
    clients: ['portal', 'attacked', 'other'].map((name) => client(name, ['password', 'client_credentials'])),
    scopes: [{ name: 'api1' }],
    users: ['alice', 'bob'].map(user),
    abuseControl: { credentials: { perClientAndAddress: { failures: secretFailures, window: secretWindow } } },
    // So that one machine can act as many.
    trustedProxies: 1,
  }
}

async function startServer(program: string, configuration: object): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(program, [JSON.stringify(configuration)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const ended = once(child, 'exit').then(() => {
    throw new Error('a server has ended before it listened')
  })
  const [{ port }] = (await Promise.race([once(child, 'message'), ended])) as [{ readonly port: number }]
  return { child, port }
}

interface Caller {
  readonly from: string
  readonly clientId: string
  readonly secret?: string
}

/**
 * Runs the ready server in the given number of processes on one store. An attacker guesses the password of one user and
 * the secret of one client as fast as possible, while another user and another client continue, first without the
 * attack and then with it.
 *
 * @param seconds duration of the attack
 */
export async function bruteForce(
  program: string,
  store: NetworkStore,
  processes: number,
  seconds: number,
): Promise<BruteForce> {
  const configuration = configurationOf(store)
  const servers = await Promise.all(Array.from({ length: processes }, () => startServer(program, configuration)))
  const agent = new Agent({ keepAlive: true })
  let turn = 0

  /** Round robin over the processes, like a load balancer. */
  function post(
    form: Record<string, string>,
    { from, clientId, secret = `${clientId}-secret` }: Caller,
  ): Promise<number> {
    turn += 1
    const { port } = servers[turn % servers.length] as { readonly port: number }
    const headers = {
      authorization: `Basic ${btoa(`${clientId}:${secret}`)}`,
      'content-type': 'application/x-www-form-urlencoded',
      'x-forwarded-for': from,
    }
    return new Promise((resolve, reject) => {
      const outgoing = request(
        { host: '127.0.0.1', port, path: '/connect/token', method: 'POST', headers, agent },
        (response) => {
          response.resume()
          response.on('end', () => resolve(response.statusCode ?? 0))
        },
      )
      outgoing.on('error', reject)
      outgoing.end(new URLSearchParams(form).toString())
    })
  }
  const login = (username: string, password: string, caller: Caller) =>
    post({ grant_type: 'password', username, password, scope: 'api1' }, caller)
  const token = (caller: Caller) => post({ grant_type: 'client_credentials', scope: 'api1' }, caller)

  async function bystanders(isOver: () => boolean): Promise<Bystanders> {
    const statuses = new Set<number>()
    const timed = async (send: () => Promise<number>): Promise<readonly number[]> => {
      const taken: number[] = []
      do {
        const startedAt = performance.now()
        statuses.add(await send())
        taken.push(performance.now() - startedAt)
        await pause(10)
      } while (!isOver())
      return taken
    }
    const [logins, tokens] = await Promise.all([
      timed(() => login('bob', 'bob-password', { from: '198.51.100.2', clientId: 'portal' })),
      timed(() => token({ from: '198.51.100.3', clientId: 'other' })),
    ])
    return { login: logins, token: tokens, statuses }
  }

  async function attack(isOver: () => boolean, guess: () => Promise<number>): Promise<ReadonlyMap<number, number>> {
    const responses = new Map<number, number>()
    const worker = async (): Promise<void> => {
      while (!isOver()) {
        const status = await guess()
        responses.set(status, (responses.get(status) ?? 0) + 1)
        // More would measure how a busy machine shares its cores.
        await pause(20)
      }
    }
    await Promise.all(Array.from({ length: attackersAtOnce }, worker))
    return responses
  }

  const until = (milliseconds: number): (() => boolean) => {
    const end = performance.now() + milliseconds
    return () => performance.now() > end
  }
  try {
    // Compiled, and connected.
    await bystanders(until(300))
    const before = await bystanders(until(seconds * 500))
    const begun = Date.now() / 1000
    const isOver = until(seconds * 1000)
    const [during, passwords, secrets] = await Promise.all([
      bystanders(isOver),
      attack(isOver, () => login('alice', 'wrong', { from: attacker, clientId: 'portal' })),
      attack(isOver, () => token({ from: attacker, clientId: 'attacked', secret: 'wrong' })),
    ])
    return { before, during, seconds, begun, ended: Date.now() / 1000, passwords, secrets }
  } finally {
    agent.destroy()
    await Promise.all(
      servers.map(async ({ child }) => {
        const gone = once(child, 'exit')
        child.kill('SIGKILL')
        await gone
      }),
    )
  }
}

/** The n-th percentile, in milliseconds. */
export function percentile(taken: readonly number[], n: number): number {
  const sorted = [...taken].sort((first, second) => first - second)
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * n) / 100))] ?? 0
}

/** The results as text. */
export function bruteForceReport({ before, during, seconds, passwords, secrets }: BruteForce): string {
  const row = (name: string, first: readonly number[], second: readonly number[]): string =>
    `${name}: ${[50, 95].map((n) => `p${n} ${percentile(first, n).toFixed(1)} ms, with the attack ${percentile(second, n).toFixed(1)} ms`).join('; ')} (${first.length} and ${second.length} requests)`
  const responses = (all: ReadonlyMap<number, number>): string =>
    [...all].map(([status, count]) => `${count} x ${status}`).join(', ')
  return [
    `passwords of one user, guessed for ${seconds} s: ${responses(passwords)}`,
    `secrets of one client, guessed for ${seconds} s: ${responses(secrets)}`,
    row('logins of another user', before.login, during.login),
    row('tokens of another client', before.token, during.token),
  ].join('\n')
}

/** The number of passwords that may be checked between two times, in epoch seconds: five in each window of 15 minutes. */
export const mostPasswords = (begun: number, ended: number): number =>
  5 * (Math.floor(ended / 900) - Math.floor(begun / 900) + 1)
