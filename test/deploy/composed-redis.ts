import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { until } from '../support/eventually.ts'
import { type RunningProgram, runProgram } from '../support/program.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { root } from './single-file.ts'

export interface ComposedRedis {
  readonly url: string
  /** The file with its password, which the servers read, too. */
  readonly passwordFile: string
  readonly program: RunningProgram
  /** Sends a command, with its password. */
  config(name: string): Promise<string>
  /** Sends SIGTERM and resolves with the exit code. */
  stop(): Promise<number | null>
}

async function send<T>(port: number, password: string, question: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis({ port, host: '127.0.0.1', password, lazyConnect: true, retryStrategy: () => null })
  client.on('error', () => {})
  try {
    return await question(client)
  } finally {
    client.disconnect()
  }
}

/**
 * Runs the Redis command of compose.yaml on this machine. Only the paths, the port and the address differ.
 *
 * @param command the value of `command` in compose.yaml
 */
export async function startComposedRedis(command: readonly string[], directory: string): Promise<ComposedRedis> {
  const [shell = '', flag = '', script = ''] = command
  const password = 'a-password-of-the-test'
  const passwordFile = join(directory, 'redis_password')
  await writeFile(passwordFile, `${password}\n`)
  await chmod(passwordFile, 0o400)
  const data = join(directory, 'data')
  await mkdir(data)
  const port = await reservedPort()
  const here = script
    // Compose escapes $ as $$.
    .replaceAll('$$', '$')
    .replaceAll('/etc/redis/redis.conf', `${root}/deploy/redis.conf`)
    .replaceAll('/run/secrets/redis_password', passwordFile)
    .replace('redis-server -', `redis-server --port ${port} --bind 127.0.0.1 -`)
  const program = runProgram([shell, flag, here], { cwd: data })
  const ping = (): Promise<boolean> =>
    send(port, password, (client) => client.ping()).then(
      (response) => response === 'PONG',
      () => false,
    )
  let gone = false
  void program.ended.then(() => {
    gone = true
  })
  try {
    await until('Redis answers', () => {
      if (gone) throw new Error(`Redis has ended: ${program.output().out}`)
      return ping()
    })
  } catch (error) {
    program.signal('SIGKILL')
    throw error
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    passwordFile,
    program,
    config: (name) =>
      send(port, password, async (client) => {
        const response = await client.config('GET', name)
        return Array.isArray(response) ? String(response[1]) : ''
      }),
    stop() {
      program.signal('SIGTERM')
      return program.ended
    },
  }
}
