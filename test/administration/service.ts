// Processes of the server on one storage, and commands of administrators on it.
import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { basic, type Credentials, sha256Of } from '@grantry/testing'
import { expect } from 'vitest'
import { printedWith } from '../server/printed.ts'
import { eventually } from '../support/eventually.ts'
import { createFleet, type Fleet } from '../support/fleet.ts'
import { patient } from '../support/network-stores.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { newDirectory, realServerProgram } from '../support/server-program.ts'

const issuer = 'https://id.example.com'

export interface Service {
  /** Runs `grantry <line>` with the configuration of the servers. */
  command(...line: readonly string[]): Promise<string>
  /** The same with standard input. */
  commandWith(input: string, ...line: readonly string[]): Promise<string>
  /** Runs it in a process of its own, and returns the exit code. */
  inProcess(...line: readonly string[]): Promise<number>
  /** Sends the same request to each process. */
  everywhere<T>(send: (origin: string) => Promise<T>): Promise<readonly T[]>
  /** Kills the process at an origin with SIGKILL. */
  kill(origin: string): Promise<void>
}

let turn: Promise<unknown> = Promise.resolve()

/**
 * Commands of suites side by side take turns, because they write to the standard output of this process; and so do their
 * starts, which load the machine.
 */
export function inTurn<T>(run: () => Promise<T>): Promise<T> {
  const result = turn.then(run)
  turn = Promise.allSettled([result])
  return result
}

/** Waits for all processes. They remember entries for seconds: to ask more often would only take CPU time. */
export const soonEverywhere = <T>(assertion: () => Promise<T>): Promise<T> => eventually(assertion, 500)

/** @param closings receives what ends the processes */
export async function startService(
  storage: object,
  closings: (() => unknown)[],
  more: object = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const directory = newDirectory()
  closings.push(() => rmSync(directory, { recursive: true, force: true }))
  const configuration = join(directory, 'grantry.config.json')
  // The requests that wait for a change are wrong until then.
  const limit = { failures: 1000, window: 60 }
  const passwords = { perUserAndAddress: limit, perUser: limit, perClient: limit }
  const abuseControl = { enabled: false, passwords }
  const scopes = [{ name: 'api1', secrets: [{ sha256: sha256Of('api1-secret') }] }]
  const setting = {
    issuer,
    storage: patient(storage),
    // On a busy machine, the hash of a password takes longer than the usual limit.
    hostTimeLimit: 60,
    storageTimeLimit: 60,
    administration: true,
    clients: [],
    scopes,
    abuseControl,
    ...more,
  }
  writeFileSync(configuration, JSON.stringify(setting), { mode: 0o600 })
  const program = await realServerProgram()
  const ports = await Promise.all(Array.from({ length: 4 }, reservedPort))
  const fleet: Fleet = createFleet({ program, configuration, ports, directory, environment })
  closings.push(fleet.killAll)
  for (const port of ports) fleet.start(port)
  await Promise.all(ports.map(fleet.ready))
  const commandWith: Service['commandWith'] = async (input, ...line) => {
    const { code, out, err } = await inTurn(() => printedWith({ input }, ...line, '--config', configuration))
    expect({ code, err }).toEqual({ code: 0, err: '' })
    return out
  }
  return {
    commandWith,
    command: (...line) => commandWith('', ...line),
    inProcess: (...line) =>
      new Promise((resolve) => {
        const env = { ...process.env, ...environment, GRANTRY_TEST_PARENT: String(process.pid) }
        const child = execFile(process.execPath, [program, ...line, '--config', configuration], { env }, () =>
          resolve(child.exitCode ?? -1),
        )
      }),
    everywhere: (send) => Promise.all(ports.map((port) => send(`http://127.0.0.1:${port}`))),
    kill: (origin) => fleet.kill(Number(new URL(origin).port)),
  }
}

/** Returns a function that reads the changes that the trail has gained since, the newest first. */
export async function trailOf(command: Service['command']): Promise<() => Promise<readonly { action: string }[]>> {
  const read = async (): Promise<readonly { action: string }[]> =>
    JSON.parse(await command('audit', '--json', '--limit', '1000'))
  const before = await read()
  return async () => {
    const now = await read()
    return now.slice(0, now.length - before.length)
  }
}

export async function post(url: string, credentials: Credentials, form: Record<string, string>) {
  const headers = { authorization: basic(credentials) }
  const response = await fetch(url, { method: 'POST', headers, body: new URLSearchParams(form) })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
