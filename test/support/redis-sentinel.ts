import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { pause } from './pause.ts'
import { newDirectory, removeDirectory, startProcess } from './redis-process.ts'
import type { RedisServer } from './redis-server.ts'
import { reservedPort } from './reserved-port.ts'

/** Seconds for the Sentinel to find the replicas: it asks the primary once at its start, and then every 10 s. */
const timeLimit = 60

export interface Sentinel {
  readonly port: number
  /** Its name for the primary. */
  readonly name: string
  stop(): Promise<void>
}

export interface SentinelOptions {
  readonly name?: string
  /** Milliseconds of silence after which the primary counts as down; default 1000. */
  readonly downAfter?: number
}

async function waitForReplicas(port: number, name: string, primary: RedisServer): Promise<void> {
  const wanted = Number(/connected_slaves:(\d+)/u.exec(String(await primary.command('INFO', 'replication')))?.[1])
  const client = new Redis({ port, host: '127.0.0.1' })
  client.on('error', () => {})
  try {
    const deadline = Date.now() + timeLimit * 1000
    for (;;) {
      const known = await client.call('SENTINEL', 'REPLICAS', name)
      if (Array.isArray(known) && known.length === wanted) return
      if (Date.now() > deadline) throw new Error(`The Sentinel has not found ${wanted} replicas within ${timeLimit} s`)
      await pause(100)
    }
  } finally {
    client.disconnect()
  }
}

/**
 * A Sentinel that decides alone, and soon, that the primary is down. It knows the replicas that the primary has when it
 * starts.
 */
export async function startSentinel(primary: RedisServer, options: SentinelOptions = {}): Promise<Sentinel> {
  const port = await reservedPort()
  const { name = 'grantry', downAfter = 1000 } = options
  const directory = await newDirectory()
  const file = join(directory, 'sentinel.conf')
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${directory}`,
    `sentinel monitor ${name} 127.0.0.1 ${primary.port} 1`,
    `sentinel down-after-milliseconds ${name} ${downAfter}`,
    `sentinel failover-timeout ${name} 5000`,
  ]
  await writeFile(file, `${lines.join('\n')}\n`)
  try {
    const running = await startProcess(port, directory, [file, '--sentinel'])
    const stop = async (): Promise<void> => {
      await running.kill()
      await removeDirectory(directory)
    }
    try {
      await waitForReplicas(port, name, primary)
    } catch (error) {
      await stop()
      throw error
    }
    return { port, name, stop }
  } catch (error) {
    await removeDirectory(directory)
    throw error
  }
}
