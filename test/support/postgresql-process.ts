import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { builtOnce } from './built-once.ts'
import { suspend } from './suspend.ts'

/** Debian installs each version in a folder of its own, which is not in PATH. */
function programFolder(): string | undefined {
  const fromEnvironment = process.env.POSTGRESQL_BIN
  if (fromEnvironment !== undefined) return fromEnvironment
  const root = '/usr/lib/postgresql'
  // A version without initdb is that of a client.
  const names = existsSync(root) ? readdirSync(root).filter((name) => existsSync(join(root, name, 'bin/initdb'))) : []
  const versions = names.map(Number)
  const [newest] = versions.filter(Number.isInteger).sort((first, second) => second - first)
  return newest === undefined ? undefined : join(root, String(newest), 'bin')
}

const folder = programFolder()

/** One sentence when PostgreSQL cannot be run here: what is missing and how to get it. */
export const postgresqlMissing: string | undefined =
  folder === undefined
    ? 'PostgreSQL is not installed, but the tests of the PostgreSQL driver need it: apt-get install postgresql'
    : undefined

/** PostgreSQL refuses to run as root, so root starts it as the user of the package. */
function account(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}

/** Path of a program of PostgreSQL. */
export const programOf = (name: string): string => join(folder ?? '', name)

/** The superuser of every test server. */
export const superuser = { user: 'postgres', password: 'the-password' }

/** Returns a new directory for the account. */
async function newDirectory(): Promise<string> {
  const { uid, gid } = account()
  const directory = await mkdtemp(join(tmpdir(), 'grantry-postgresql-'))
  if (uid !== undefined && gid !== undefined) chownSync(directory, uid, gid)
  return directory
}

/** Runs a program of the system under the account. */
function run(program: string, parameters: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, parameters, { encoding: 'utf8', ...account(), cwd: '/' })
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`)
}

const perform = (program: string, parameters: readonly string[]): void => run(programOf(program), parameters)

/** Copies the cluster of a server to a new directory, for a replica of it. */
export async function copyCluster(url: string): Promise<string> {
  const directory = await newDirectory()
  perform('pg_basebackup', [
    ...['--dbname', url, '--pgdata', join(directory, 'data')],
    ...['--write-recovery-conf', '--checkpoint=fast', '--no-sync'],
  ])
  return directory
}

/** Creates an empty cluster in a directory of the account. */
async function initialize(directory: string, encoding: string): Promise<void> {
  const { uid, gid } = account()
  const passwords = join(directory, 'password')
  await writeFile(passwords, superuser.password)
  if (uid !== undefined && gid !== undefined) chownSync(passwords, uid, gid)
  perform('initdb', [
    ...['--pgdata', join(directory, 'data'), '--username', superuser.user, '--pwfile', passwords],
    ...['--auth', 'scram-sha-256', '--encoding', encoding, '--locale', 'C', '--no-sync', '--no-instructions'],
  ])
}

/**
 * Creates an empty cluster in a new directory: a copy of the one that is made once for a run, which takes a tenth of the CPU
 * time.
 */
export async function createCluster(encoding: string): Promise<string> {
  const made = await builtOnce(`cluster-${encoding}`, async (directory) => {
    const { uid, gid } = account()
    if (uid !== undefined && gid !== undefined) chownSync(directory, uid, gid)
    await initialize(directory, encoding)
  })
  const directory = await newDirectory()
  run('cp', ['-a', join(made, 'data'), directory])
  return directory
}

export const removeCluster = (directory: string): Promise<void> => rm(directory, { recursive: true, force: true })

/** One server with its child processes. It ends with the process that started it, however that ends. */
export interface PostgresqlProcess {
  /** Resolves when the process is gone. */
  readonly ended: Promise<void>
  /** The end of the server's log. */
  log(): string
  /** Sends a signal to the server and to all of its processes. With SIGSTOP, all of them stand still afterwards. */
  signalAll(name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void
  /** Ends it without a checkpoint. */
  quit(): Promise<void>
}

function childrenOf(pid: number): readonly number[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/u).map(Number))
    .flatMap(([child, parent]) => (parent === pid && child !== undefined ? [child] : []))
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended.
  }
}

/**
 * Ends the server and removes its directory when this process is gone: the pipe closes in every case, including
 * SIGKILL.
 */
export function leash(pid: number, directory: string): ChildProcess {
  const script = 'read -r line; pkill -9 -P "$1"; kill -9 "$1"; rm -rf -- "$2"'
  const child = spawn('sh', ['-c', script, 'leash', String(pid), directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.unref()
  return child
}

export function startProcess(port: number, directory: string, settings: readonly string[]): PostgresqlProcess {
  const options = settings.flatMap((setting) => ['-c', setting])
  const parameters = ['-D', join(directory, 'data'), '-p', String(port), '-k', directory, ...options]
  const child = spawn(programOf('postgres'), parameters, {
    ...account(),
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => {
    log = (log + chunk).slice(-20_000)
  })
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', (error) => {
      log += error.message
      resolve()
    })
  })
  const { pid } = child
  if (pid !== undefined) {
    const guard = leash(pid, directory)
    // A later process may get the same id.
    child.once('exit', () => guard.kill('SIGKILL'))
  }
  return {
    ended,
    log: () => log,
    signalAll(name) {
      if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return
      // First the server, so that it starts no more processes; then those that exist.
      const children = childrenOf(pid)
      if (name === 'SIGCONT') for (const each of children) signal(each, name)
      signal(pid, name)
      if (name === 'SIGSTOP') suspend([pid])
      const all = [...new Set([...childrenOf(pid), ...children])]
      for (const each of all) signal(each, name)
      if (name === 'SIGSTOP') suspend(all)
    },
    async quit() {
      child.kill('SIGQUIT')
      child.kill('SIGCONT')
      await ended
    },
  }
}
