import { spawnSync } from 'node:child_process'
import { Redis } from 'ioredis'
import { newDirectory, type RedisProcess, removeDirectory, startProcess } from './redis-process.ts'
import { reservedPort } from './reserved-port.ts'

/** One sentence when redis-server cannot be run here: what is missing and how to get it. */
export const redisMissing: string | undefined =
  spawnSync('redis-server', ['--version']).status === 0
    ? undefined
    : 'redis-server is not installed, but the tests of the Redis driver need it: apt-get install redis-server'

export interface RedisServerOptions {
  /** As on the command line of redis-server; they override the defaults of the test server. */
  readonly arguments?: readonly string[]
}

/** A separate redis-server for this test, on loopback. It ends with the process of the test at the latest. */
export interface RedisServer {
  readonly port: number
  readonly url: string
  /** Another one after `restart()`. */
  readonly pid: number
  /** SIGSTOP: connections stay open without a reply. */
  pause(): void
  resume(): void
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>
  /** After `kill()`: the same port and arguments, empty or with the persisted data. */
  restart(): Promise<void>
  /** Sends one command on a new connection. */
  command(name: string, ...parameters: (string | number)[]): Promise<unknown>
  /** Ends it and removes its directory. */
  stop(): Promise<void>
}

async function send(port: number, name: string, parameters: (string | number)[]): Promise<unknown> {
  const client = new Redis({ port, host: '127.0.0.1', lazyConnect: true, retryStrategy: () => null })
  // The rejection of the command reports it.
  client.on('error', () => {})
  try {
    return await client.call(name, ...parameters)
  } finally {
    client.disconnect()
  }
}

// Diskless replication waits 5 s for more replicas by default.
const quick = ['--repl-diskless-sync', 'yes', '--repl-diskless-sync-delay', '0']

async function startOn(port: number, options: RedisServerOptions): Promise<RedisServer> {
  const directory = await newDirectory()
  const parameters = [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, '--save', '', '--appendonly', 'no'],
    ...quick,
    ...(options.arguments ?? []),
  ]
  let current: RedisProcess
  try {
    current = await startProcess(port, directory, parameters)
  } catch (error) {
    await removeDirectory(directory)
    throw error
  }
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    get pid() {
      return current.pid
    },
    pause: () => current.suspend(),
    resume: () => current.resume(),
    kill: () => current.kill(),
    async restart() {
      current = await startProcess(port, directory, parameters)
    },
    command: (name, ...parameters) => send(port, name, parameters),
    async stop() {
      await current.kill()
      await removeDirectory(directory)
    },
  }
}

/**
 * Starts a redis-server that keeps nothing on disk by default. Rejects with the end of its log when it does not start.
 */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  if (redisMissing !== undefined) throw new Error(redisMissing)
  return startOn(await reservedPort(), options)
}
