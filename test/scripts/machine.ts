import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A machine on which nothing of the tests is installed: a copy of the scripts, and a PATH with only some programs. */
export interface Machine {
  /** The directory of the copied project. */
  readonly directory: string
  /** Adds a program to the PATH: the body of a shell script, which appends its arguments to the log. */
  add(name: string, body: string): void
  /** What the added programs were called with, one line each. */
  calls(): readonly string[]
  /** Runs a script of the project. */
  run(script: string, parameters?: readonly string[], options?: RunOptions): Ended
}

export interface RunOptions {
  readonly CI?: boolean
  /** Whether the user has no rights; the test needs to be root for that, or to have none itself. */
  readonly asUser?: boolean
}

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

const otherUser = 65_534
const isRoot = process.getuid?.() === 0

/** Whether the tests can run scripts with all rights. */
export const canBeRoot = isRoot

export function createMachine(): Machine {
  const directory = mkdtempSync(join(tmpdir(), 'grantry-machine-'))
  const bin = join(directory, 'bin')
  const log = join(directory, 'calls')
  mkdirSync(bin)
  writeFileSync(log, '')
  cpSync(join(root, 'scripts'), join(directory, 'scripts'), { recursive: true })
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
  for (const program of ['sh', 'rm', 'chmod', 'mkdir', 'cat']) symlinkSync(`/bin/${program}`, join(bin, program))
  symlinkSync(process.execPath, join(bin, 'node'))
  // Any user may run it and install here.
  for (const path of [directory, bin]) chmodSync(path, 0o777)
  chmodSync(log, 0o666)
  return {
    directory,
    add(name, body) {
      const file = join(bin, name)
      writeFileSync(file, `#!/bin/sh\necho "${name} $*" >> "${log}"\n${body}\n`)
      chmodSync(file, 0o755)
    },
    calls: () => readFileSync(log, 'utf8').split('\n').slice(0, -1),
    run(script, parameters = [], { CI = false, asUser = false } = {}) {
      const { CHROMIUM: _, ...environment } = process.env
      const { status, stdout, stderr } = spawnSync(process.execPath, [`scripts/${script}.js`, ...parameters], {
        cwd: directory,
        env: { ...environment, PATH: bin, CI: CI ? 'true' : '' },
        encoding: 'utf8',
        ...(asUser && isRoot && { uid: otherUser, gid: otherUser }),
      })
      return { code: status, out: stdout, err: stderr }
    },
  }
}
