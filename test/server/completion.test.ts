// `grantry completion`: the scripts, run by the shells themselves.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { describeWith } from '../support/describe-with.ts'
import { sharedDirectory } from '../support/directory.ts'
import { printed } from './printed.ts'

const directory = sharedDirectory('completion')
const fileOf = (shell: string): string => join(directory, `grantry.${shell}`)

/** Runs a shell program with the script, and returns the lines that it prints. */
function lines(shell: string, flags: readonly string[], program: string): readonly string[] {
  const source = `source ${fileOf(shell)}\n`
  const { status, stdout, stderr } = spawnSync(shell, [...flags, '-c', source + program], {
    encoding: 'utf8',
    cwd: directory,
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout.split('\n').filter((line) => line !== '')
}

const words = (line: readonly string[]): string => line.map((word) => `'${word}'`).join(' ')

/** Without the interactive parts of zsh: the functions that it calls print what they get. */
const zshFunctions = `
_describe() { local -a list; list=("\${(@P)2}"); print -l -- "\${(@)list}" }
_files() { print names of files }
`

/** Returns what a shell suggests after a line, without descriptions. */
const shells: Readonly<Record<string, (line: readonly string[]) => readonly string[]>> = {
  bash: (line) =>
    lines(
      'bash',
      ['--norc'],
      `COMP_WORDS=(${words(line)}); COMP_CWORD=${line.length - 1}; _grantry; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ),
  zsh: (line) => {
    const started = line.at(-1) ?? ''
    writeFileSync(join(directory, 'functions.zsh'), `compdef() { }\n${zshFunctions}`)
    const program = `source functions.zsh\nwords=(${words(line)}); CURRENT=${line.length}; _grantry`
    return lines('zsh', ['-f', '-o', 'nounset'], program)
      .map((each) => each.replace(/(?<!\\):.*$/u, ''))
      .filter((word) => word.startsWith(started))
  },
  fish: (line) =>
    lines('fish', ['--no-config'], `complete -C '${line.join(' ')}'`).map((each) => each.split('\t', 1)[0] ?? ''),
}

beforeAll(async () => {
  for (const shell of Object.keys(shells)) {
    const { code, out, err } = await printed('completion', shell)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    // The shell that defines it is not interactive here.
    writeFileSync(fileOf(shell), shell === 'zsh' ? `compdef() { }\n${out}` : out)
  }
})

const isMissing = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status !== 0

for (const [shell, suggestionsOf] of Object.entries(shells)) {
  const missing = isMissing(shell) ? `${shell} is not installed: apt-get install ${shell}` : undefined
  describeWith(missing, `in ${shell}`, () => {
    test.each([
      [['cli'], ['clients']],
      [['clients', 'rot'], ['rotate-secret']],
      [['keys', 'no'], []],
      [['clients', 'add', 'batch', '--gr'], ['--grant']],
      [['clients', 'show', '--json', 'batch', '--js'], ['--json']],
      [['serve', '--log-level', 'd'], ['debug']],
    ])('%j is followed by %j', (line, expected) => {
      expect(suggestionsOf(['grantry', ...line])).toEqual(expected)
    })

    test('every command is suggested once', () => {
      const suggested = suggestionsOf(['grantry', ''])
      for (const command of ['serve', 'clients', 'audit', 'storage', 'login', 'completion'])
        expect(suggested.filter((word) => word === command)).toEqual([command])
    })
  })
}

test('an unknown shell is refused', async () => {
  const { code, err } = await printed('completion', 'tcsh')
  expect([code, err]).toEqual([2, expect.stringContaining("'tcsh' is invalid")])
})
