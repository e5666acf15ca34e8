import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createPasswordCheck, parsePasswordHash } from '@grantry/users/password-hash'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { runProgram } from '../support/program.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { printed, printedWith } from './printed.ts'
import { root, startCommand } from './running-command.ts'
import { run } from './running-program.ts'

describe('commands that only print', () => {
  test('--version prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(`${root}/packages/server/package.json`, 'utf8'))
    expect(await printed('--version')).toEqual({ code: 0, out: `${version}\n`, err: '' })
  })

  test.each([[['--help']], [['help']], [['serve', '--help']]])('%j exits with 0', async (line) => {
    const usage = expect.stringContaining('Usage: grantry')
    expect(await printed(...line)).toEqual({ code: 0, out: usage, err: '' })
  })

  test('--help lists every command', async () => {
    const { out } = await printed('--help')
    for (const command of ['serve', 'hash-secret', 'hash-password']) expect(out).toContain(command)
  })

  // An unset shell variable becomes an empty argument, and its hash would accept an empty secret.
  test('hash-secret rejects an empty secret and prints no hash', async () => {
    const sentence = expect.stringMatching(/^grantry: the secret is empty; [^\n]+\n$/u)
    expect(await printed('hash-secret', '')).toEqual({ code: 1, out: '', err: sentence })
  })

  test.each(['-web-secret', '--web-secret', '-hweb', '-c'])(
    'hash-secret hashes %j as a secret, and does not print it',
    async (secret) => {
      const hash = createHash('sha256').update(secret).digest('base64')
      expect(await printed('hash-secret', secret)).toEqual({
        code: 0,
        out: `store    { "sha256": "${hash}" }\n`,
        err: '',
      })
    },
  )

  test.each(['web-secret', 'web-secret\n', 'web-secret\r\n'])(
    'hash-secret - reads %j from standard input',
    async (input) => {
      const { code, out } = await printedWith({ input }, 'hash-secret', '-')
      expect([code, out]).toEqual([0, expect.stringContaining('"dh/tnbsiQnvtvHPD8KuT//QRBKp36xRQJdARO+jANaM="')])
    },
  )

  test('hash-secret without a secret generates one and prints it with its hash', async () => {
    const { out } = await printed('hash-secret')
    const [, secret = '', stored] =
      /^secret {3}([\w-]{43})\nstore {4}\{ "sha256": "([\w+/]{43}=)" \}\n$/u.exec(out) ?? []
    expect(stored).toBe(createHash('sha256').update(secret).digest('base64'))
    expect((await printed('hash-secret')).out).not.toBe(out)
  })

  test('hash-secret prints the hash and not the secret', async () => {
    expect(await printed('hash-secret', 'web-secret')).toEqual({
      code: 0,
      out: 'store    { "sha256": "dh/tnbsiQnvtvHPD8KuT//QRBKp36xRQJdARO+jANaM=" }\n',
      err: '',
    })
  })
})

describe.skipIf(process.platform === 'win32')('an output that cannot be written', () => {
  /** Returns what a shell command with `$GRANTRY` writes to standard error. */
  async function errorsOf(line: string): Promise<string> {
    const environment = { GRANTRY: `${process.execPath} ${root}/packages/server/bin/grantry.js` }
    const { output, ended } = runProgram(['sh', '-c', line], { cwd: root, environment })
    expect(await ended).toBe(0)
    return output().err
  }

  test('a closed pipe is not an error', async () => {
    expect(await errorsOf('{ sleep 0.3; $GRANTRY hash-secret web-secret; echo $? >&2; } | true')).toBe('0\n')
  })

  test.skipIf(process.platform !== 'linux')('a full disk is reported in one line', async () => {
    expect(await errorsOf('$GRANTRY hash-secret web-secret > /dev/full; echo $? >&2')).toBe(
      'grantry: cannot write to standard output (ENOSPC)\n1\n',
    )
  })
})

describe('hash-password from standard input', () => {
  test.each([
    ['a line', 'secret\n', 'secret'],
    ['a Windows line', 'secret\r\n', 'secret'],
    ['text without a line break', 'secret', 'secret'],
    ['spaces and non-ASCII characters', ' pässwörd 密 \n', ' pässwörd 密 '],
  ])('%s: prints only the hash, which matches only that password', async (_what, input, password) => {
    const { code, out } = await printedWith({ input }, 'hash-password')
    expect(code).toBe(0)
    expect(out).toMatch(/^\$argon2id\$[^\n]+\n$/u)
    const hash = parsePasswordHash(out.trim())
    if (hash === undefined) throw new Error('the output is not a hash')
    const check = createPasswordCheck([hash])
    expect(await check(password, hash)).toBe(true)
    expect(await check(`${password}\n`, hash)).toBe(false)
  })

  test.each([
    ['nothing', ''],
    ['an empty line', '\n'],
    ['an empty line before another', '\nsecret\n'],
  ])('rejects %s and prints no hash', async (_what, input) => {
    const { code, out, err } = await printedWith({ input }, 'hash-password')
    expect(code).toBe(1)
    expect(out).toBe('')
    expect(err).toContain('grantry: the password is empty')
  })

  test('works in a process whose input is piped', async () => {
    const { code, out, err } = await run(['hash-password'], root, { input: 'secret\n' })
    expect([code, out, err]).toEqual([0, expect.stringMatching(/^\$argon2id\$[^\n]+\n$/u), ''])
  })
})

describe('npm start', () => {
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  test.each(['--help', '-h'])('%s lists every command', async (option) => {
    const { code, out } = await run([option], root)
    expect(code).toBe(0)
    for (const command of ['serve', 'init', 'check', 'keys', 'hash-secret']) expect(out).toContain(`\n  ${command} `)
  })

  test('listens on PORT, and on --port if both are set', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'grantry-port-'))
    const port = await reservedPort()
    vi.stubEnv('PORT', String(port))
    const [server, onAnyPort] = await Promise.all([
      startCommand([], directory),
      startCommand(['--port', '0'], directory),
    ])
    try {
      expect((await fetch(`http://127.0.0.1:${port}/health/live`)).status).toBe(200)
      expect(onAnyPort.output().err).not.toContain(`127.0.0.1:${port}`)
    } finally {
      expect(await Promise.all([server.stop(), onAnyPort.stop()])).toEqual([0, 0])
      rmSync(directory, { recursive: true, force: true })
    }
  })

  test('stops the server when npm gets SIGTERM', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'grantry-npm-'))
    const npm = spawn('npm', ['start', '--', '--port', '0', '--log-format', 'json'], {
      cwd: root,
      env: { ...process.env, INIT_CWD: directory },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    // The pipe closes when the last of npm, its shell and the server has ended.
    const events = createInterface({ input: npm.stderr })
    for await (const line of events) {
      if (!line.includes('"event.name":"server_listening"')) continue
      npm.kill('SIGTERM')
    }
    expect(npm.exitCode ?? npm.signalCode).not.toBeNull()
    rmSync(directory, { recursive: true, force: true })
  })

  test('rejects a PORT that is not a port number', async () => {
    vi.stubEnv('PORT', 'http')
    const { code, err } = await printed('serve')
    expect([code, err]).toEqual([2, expect.stringContaining("value 'http' from env 'PORT' is invalid")])
  })
})

describe('a relative path with npm start, which runs scripts at the root of the repository', () => {
  const directory = mkdtempSync(join(tmpdir(), 'grantry-caller-'))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  async function configuration(): Promise<string> {
    const issuer = `http://127.0.0.1:${await reservedPort()}`
    writeFileSync(join(directory, 'rel.json'), JSON.stringify({ issuer, storage: { driver: 'memory' }, clients: [] }))
    return issuer
  }

  test('is resolved against the directory of the caller', async () => {
    const issuer = await configuration()
    vi.stubEnv('npm_lifecycle_event', 'start')
    vi.stubEnv('INIT_CWD', directory)
    const server = await startCommand(['serve', '--config', 'rel.json'])
    try {
      const discovery = await fetch(`${issuer}/.well-known/openid-configuration`)
      expect(await discovery.json()).toMatchObject({ issuer })
    } finally {
      expect(await server.stop()).toBe(0)
    }
  })

  // Another npm script that starts the server has chosen its working directory on purpose.
  test('is resolved against the working directory in another script', async () => {
    await configuration()
    vi.stubEnv('npm_lifecycle_event', 'test')
    vi.stubEnv('INIT_CWD', directory)
    const started = startCommand(['serve', '--config', 'rel.json'])
    await expect(started).rejects.toThrow(`${join(root, 'rel.json')}: the file does not exist`)
  })
})
