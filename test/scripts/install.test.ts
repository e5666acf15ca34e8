// What `npm test` installs on a machine that has only Node.js and npm, and what it reports. `npm run prove:fresh-machine`
// does it for real.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { packageFolders } from '../../scripts/package-folders.js'
import { root } from '../docs/code-blocks.ts'
import { canBeRoot, createMachine, type Machine } from './machine.ts'

const nothing = { code: 0, out: '', err: '' }

describe.each(['examples', 'test/relying-parties', 'test/bundlers', 'bench/peers'])('the packages of %s', (folder) => {
  function setUp(npm: string): Machine {
    const machine = createMachine()
    mkdirSync(join(machine.directory, folder), { recursive: true, mode: 0o777 })
    writeFileSync(join(machine.directory, folder, 'package.json'), '{ "dependencies": { "a": "1.2.3" } }')
    machine.add('npm', npm)
    return machine
  }
  const works = `mkdir -p node_modules/a && echo '{ "version": "1.2.3" }' > node_modules/a/package.json`
  const run = (machine: Machine, CI = false, ...more: readonly string[]) =>
    machine.run('installed-packages', [folder, ...more], { CI })

  test.each([false, true])('are installed, once, with CI=%s', (CI) => {
    const machine = setUp(works)
    expect(run(machine, CI)).toEqual(nothing)
    expect(run(machine, CI)).toEqual(nothing)
    expect(machine.calls()).toEqual(['npm ci --no-audit --no-fund --loglevel=error'])
  })

  test('are installed again if they have another version', () => {
    const machine = setUp(works)
    const installed = join(machine.directory, folder, 'node_modules/a')
    mkdirSync(installed, { recursive: true })
    writeFileSync(join(installed, 'package.json'), '{ "version": "1.2.2" }')
    expect(run(machine, false, '--check').out).toContain('without a 1.2.3')
    expect(run(machine)).toEqual(nothing)
    expect(machine.calls()).toHaveLength(1)
  })

  test('are reported if they cannot be installed; with CI=true that is a failure', () => {
    const machine = setUp('exit 1')
    const { code, out } = run(machine)
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^not run: .+, without a 1\.2\.3 \(install with: npm .+\)\n$/u),
    ])
    expect(run(machine, true)).toEqual({ code: 1, out, err: '' })
  })

  test('are only looked for with --check', () => {
    const machine = setUp(works)
    expect(run(machine, false, '--check').out).toContain('without a 1.2.3')
    expect(machine.calls()).toEqual([])
  })
})

test('npm ci changes no program of a checkout: git has each as executable', () => {
  const programs = packageFolders.flatMap((folder) => {
    const { bin = {} } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
    return Object.values<string>(bin).map((file) => posix.join(folder, file))
  })
  expect(programs.length).toBeGreaterThan(1)
  const listed = execFileSync('git', ['ls-files', '--stage', '--', ...programs], { cwd: root, encoding: 'utf8' })
  expect(
    listed
      .trim()
      .split('\n')
      .map((line) => line.replace(/ .*\t/u, ' ')),
  ).toEqual(programs.map((program) => `100755 ${program}`).sort())
})

describe('the runtimes', () => {
  const names = ['bun', 'deno', 'node22', 'node24', 'workerd']
  const places = ['.bin/bun', '.bin/deno', 'node22/bin/node', 'node24/bin/node', '.bin/workerd']
  const works = places
    .map(
      (place) =>
        `mkdir -p node_modules/${place.replace(/\/[^/]+$/u, '')} && printf '#!/bin/sh\\necho 1.2.3\\n' > node_modules/${place} && chmod 755 node_modules/${place}`,
    )
    .join('\n')

  function setUp(npm: string): Machine {
    const machine = createMachine()
    mkdirSync(join(machine.directory, 'runtimes'), { mode: 0o777 })
    const dependencies = Object.fromEntries(names.map((name) => [name, `npm:${name}@1.2.3`]))
    writeFileSync(join(machine.directory, 'runtimes/package.json'), JSON.stringify({ dependencies }))
    machine.add('npm', npm)
    return machine
  }

  test.each([false, true])('are installed, once, with CI=%s', (CI) => {
    const machine = setUp(works)
    expect(machine.run('runtimes', [], { CI })).toEqual(nothing)
    expect(machine.run('runtimes', [], { CI })).toEqual(nothing)
    expect(machine.calls()).toEqual(['npm ci --ignore-scripts=false --no-audit --no-fund'])
  })

  test('are reported if they cannot be installed; with CI=true, and in npm run runtimes, that is a failure', () => {
    const machine = setUp('exit 1')
    const out = `not run: the tests on ${names.join(', ')} (install with: npm run runtimes)\n`
    expect(machine.run('runtimes')).toMatchObject({ code: 0, out })
    expect(machine.run('runtimes', [], { CI: true })).toMatchObject({ code: 1, out })
    expect(machine.run('runtimes', ['install'])).toMatchObject({ code: 1, out })
  })
})

describe('Debian programs', () => {
  const all = 'redis-server postgresql slapd pgbouncer nginx-light prometheus chromium zsh fish systemd'
  const out =
    'not run: the tests of Redis, PostgreSQL, users in an LDAP directory, PostgreSQL behind PgBouncer, mutual TLS behind nginx, ' +
    'the alerts for Prometheus, pages in Chromium, the completion for zsh, the completion for fish, the systemd unit' +
    ` (install with: apt-get install ${all})\n`
  const programs = [
    'redis-server',
    'pg_lsclusters',
    'slapd',
    'pgbouncer',
    'nginx',
    'promtool',
    'chromium',
    'zsh',
    'fish',
    'systemd-analyze',
  ]

  /** @param apt what apt-get does when it should install; it can always print its version */
  function setUp(apt?: 'works' | 'fails'): Machine {
    const machine = createMachine()
    const bin = join(machine.directory, 'bin')
    const made = programs.map((name) => `printf '#!/bin/sh\\n' > ${bin}/${name} && chmod 755 ${bin}/${name}`)
    const act = apt === 'works' ? made.join(' && ') : 'echo "no route to host" >&2; exit 100'
    if (apt !== undefined) machine.add('apt-get', `[ "$1" = --version ] && exit 0\n${act}`)
    return machine
  }
  const installs = (machine: Machine) => machine.calls().filter((call) => call.startsWith('apt-get install'))
  const asUser = true

  const asRoot = (): void => {
    test.each([false, true])('are installed, once, with CI=%s', (CI) => {
      const machine = setUp('works')
      expect(machine.run('debian-programs', [], { CI })).toEqual(nothing)
      expect(machine.run('debian-programs', [], { CI })).toEqual(nothing)
      expect(installs(machine)).toEqual([`apt-get install -y --no-install-recommends ${all}`])
    })

    test('are reported if apt-get fails; with CI=true that is a failure', () => {
      const machine = setUp('fails')
      const err = `apt-get install ${all} failed: no route to host\n`
      expect(machine.run('debian-programs')).toEqual({ code: 0, out, err })
      expect(machine.run('debian-programs', [], { CI: true })).toEqual({ code: 1, out, err })
    })
  }
  if (canBeRoot) describe('as root', asRoot)

  test('are reported to a user without rights, for whom nothing is tried', () => {
    const machine = setUp('works')
    expect(machine.run('debian-programs', [], { asUser })).toEqual({ code: 0, out, err: '' })
    expect(installs(machine)).toEqual([])
  })

  test('are a failure with CI=true for a user without rights, if sudo does not help', () => {
    const machine = setUp('works')
    machine.add('sudo', 'echo "a password is required" >&2; exit 1')
    const { code, out: reported, err } = machine.run('debian-programs', [], { asUser, CI: true })
    expect([code, reported, err]).toEqual([1, out, expect.stringContaining('failed: a password is required')])
  })

  test.each([false, true])('are reported where there is no apt-get, with CI=%s', (CI) => {
    expect(setUp().run('debian-programs', [], { CI })).toEqual({ code: CI ? 1 : 0, out, err: '' })
  })
})
