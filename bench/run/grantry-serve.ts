import { spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { reservedPort } from '../../test/support/reserved-port.ts'
import { tableOptions } from '../companies/users-table.ts'
import { user } from '../operations.ts'
import { grantryOptions } from '../programs/grantry-options.ts'
import type { Setting } from '../setting.ts'
import { users } from '../users.ts'
import { pinToCore } from './pin-to-core.ts'
import { cpuOf, memoryOf } from './process-figures.ts'
import type { ServerProcess } from './server-process.ts'

/** Time limit for the server to respond, in milliseconds. */
const timeLimit = 20_000

/** An unusable hash: the operations with this configuration do not log in. */
const noPassword = `$scrypt$ln=10,r=1,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`

/** The ready server with all of its data in one PostgreSQL, and its pages. */
function tableConfiguration(setting: Setting): object {
  const { clients, ...options } = grantryOptions(setting)
  const { storeUrl: url = '' } = setting
  return {
    ...options,
    // The session suffices, as in the other servers.
    clients: clients.map((client) => ({ ...client, requireConsent: false })),
    storage: { driver: 'postgresql', url },
    keys: { jwks: './keys.json' },
    users: { driver: 'sql', ...tableOptions(url) },
    plugins: [{ name: 'sign-in' }],
  }
}

const redisConfiguration = (setting: Setting): object => ({
  ...grantryOptions(setting),
  storage: { driver: 'redis', url: setting.storeUrl },
  keys: { jwks: './keys.json' },
  users: [{ sub: user.sub, username: user.username, password: noPassword, claims: user.claims }],
})

const configurationOf = (setting: Setting): object =>
  setting.usersTable === undefined ? redisConfiguration(setting) : tableConfiguration(setting)

/**
 * A configuration whose users are checked without a password hash, as in the other servers. A JSON configuration always
 * hashes passwords.
 */
const moduleOf = (setting: Setting): string => `
const users = new Map(${JSON.stringify([...users].map(([name, { password, sub }]) => [name, { password, sub }]))})
const subs = new Set([...users.values()].map(({ sub }) => sub))
export default {
  ...${JSON.stringify(configurationOf(setting))},
  users: {
    authenticate({ username, password }) {
      const known = users.get(username)
      return known !== undefined && known.password === password ? { sub: known.sub } : undefined
    },
    isActive: (sub) => subs.has(sub),
    claims: () => (${JSON.stringify(user.claims)}),
  },
}
`

function writeConfiguration(directory: string, setting: Setting): string {
  writeFileSync(join(directory, 'keys.json'), JSON.stringify({ keys: [setting.signingKey] }), { mode: 0o600 })
  const isLogin = setting.operation.startsWith('password')
  const file = join(directory, isLogin ? 'grantry.config.mjs' : 'grantry.config.json')
  writeFileSync(file, isLogin ? moduleOf(setting) : JSON.stringify(configurationOf(setting)))
  return file
}

async function isListening(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/.well-known/openid-configuration`)).ok
  } catch {
    // Not yet.
    return false
  }
}

/**
 * Starts the built `grantry serve` with a configuration file and its default log, which goes to a file. It cannot issue
 * tokens without a login page, so the library issues them into the same store.
 *
 * @param launchIssuer starts the library
 * @throws Error with the log when it exits instead.
 */
export async function startGrantryServe(
  bench: URL,
  setting: Setting,
  launchIssuer: (setting: Setting) => Promise<ServerProcess>,
): Promise<ServerProcess> {
  const issuer = await launchIssuer(setting)
  const directory = mkdtempSync(join(tmpdir(), 'grantry-bench-'))
  const logFile = join(directory, 'log')
  const log = openSync(logFile, 'a')
  const port = await reservedPort()
  const startedAt = performance.now()
  const program = fileURLToPath(new URL('../packages/server/bin/grantry.js', bench))
  const file = writeConfiguration(directory, setting)
  const parameters = ['serve', '--config', file, '--port', String(port)]
  const [command = '', ...rest] = pinToCore(0, [process.execPath, program, ...parameters])
  const child = spawn(command, rest, {
    cwd: directory,
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
    await issuer.stop()
    rmSync(directory, { recursive: true, force: true })
  }
  while (!(await isListening(port))) {
    if (performance.now() - startedAt > timeLimit || child.exitCode !== null) {
      const text = readFileSync(logFile, 'utf8').slice(-4000)
      await stop()
      throw new Error(`grantry serve does not respond\n${text}`)
    }
    await sleep(5)
  }
  const pid = child.pid ?? 0
  return {
    port,
    pid,
    startedAt,
    issue: issuer.issue,
    cpu: () => cpuOf(pid),
    memory: () => memoryOf(pid),
    stop,
  }
}
