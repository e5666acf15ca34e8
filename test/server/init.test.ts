import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isSqliteAvailable } from '@grantry/storage-drivers/sqlite'
import { hashPassword, hashSecret } from 'grantry'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import { configurationTemplate } from '../../packages/server/src/init/template.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { printed } from './printed.ts'
import { root, startCommand } from './running-command.ts'
import { run } from './running-program.ts'

const shell = promisify(execFile)
const base = mkdtempSync(join(tmpdir(), 'grantry-init-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

let count = 0
function emptyDirectory(): string {
  count += 1
  const directory = join(base, `d${count}`)
  mkdirSync(directory)
  return directory
}

/** 256 random bits in base64url, the format of secrets. */
const secretsIn = (text: string): readonly string[] => text.match(/(?<![\w-])[\w-]{43}(?![\w-])/gu) ?? []

describe('in an empty directory', () => {
  test('after init, check and serve, the commands that init prints work, even after the server was killed', async () => {
    const directory = emptyDirectory()
    const issuer = `http://127.0.0.1:${await reservedPort()}`
    const made = await run(['init', '--issuer', issuer], directory)
    expect([made.code, made.err]).toEqual([0, ''])

    const checked = await run(['check', '--json'], directory)
    const { findings, counts } = JSON.parse(checked.out)
    expect({ code: checked.code, counts }).toEqual({ code: 0, counts: { error: 0, warning: 0, info: 1, accepted: 0 } })
    expect(findings).toMatchObject([{ id: 'issuer-loopback' }])

    const commands = made.out.slice(made.out.indexOf('  TOKEN='))
    const paste = async () => {
      const { stdout } = await shell('sh', ['-c', `${commands}\necho; echo "$TOKEN"`])
      const [response = '', token = ''] = stdout.trim().split('\n')
      return { response: JSON.parse(response), token }
    }
    let server = await startCommand([], directory)
    let issued: string
    try {
      const { response, token } = await paste()
      expect(response).toMatchObject({
        active: true,
        client_id: 'service',
        scope: 'api1',
        aud: 'https://api1.example.com',
      })
      issued = token
      // OpenID Connect Discovery section 3 requires RS256. The default algorithm stays ES256.
      const discovery = await fetch(`${issuer}/.well-known/openid-configuration`)
      expect(await discovery.json()).toMatchObject({ id_token_signing_alg_values_supported: ['ES256', 'RS256'] })
      expect(JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())).toMatchObject({ alg: 'ES256' })
    } finally {
      await server.stop('SIGKILL')
    }

    // The keys survive the process, so JWTs issued before are still valid.
    server = await startCommand([], directory)
    try {
      const inspect = commands.trim().split('\n')[1]?.replace('$TOKEN', issued) ?? ''
      const { stdout } = await shell('sh', ['-c', inspect])
      expect(JSON.parse(stdout)).toMatchObject({ active: true })
    } finally {
      expect(await server.stop()).toBe(0)
    }
  })

  // In a clone there is no command `grantry`.
  test('the next commands that it prints can be pasted after npm run start', async () => {
    const directory = emptyDirectory()
    const env = { npm_lifecycle_event: 'start', INIT_CWD: directory }
    const { out } = await run(['init', "new place's"], root, { env })
    const file = `--config 'new place'\\''s/grantry.config.json'`
    expect(out).toContain(`\nNext:\n  npm start -- check ${file}\n  npm start -- serve ${file}\n`)
    const [, config = ''] = /check --config (.+)\n/u.exec(out) ?? []
    const { stdout } = await shell('sh', ['-c', `echo ${config}`])
    expect((await run(['check', '--config', stdout.trim()], root, { env })).code).toBe(0)
  })

  test('the next commands that it prints can be pasted after npm run start:deno', async () => {
    const { argv } = process
    vi.stubEnv('npm_lifecycle_event', 'start:deno')
    process.argv = ['deno', `${root}/scripts/start.js`]
    try {
      const { out } = await printed('init', emptyDirectory())
      expect(out).toContain('\nNext:\n  npm run start:deno -- check --config /')
    } finally {
      process.argv = argv
      vi.unstubAllEnvs()
    }
  })

  test('its commented settings make a server that signs users in', async () => {
    const directory = emptyDirectory()
    await printed('init', directory)
    const file = join(directory, 'grantry.config.json')
    const template = readFileSync(file, 'utf8')
    const edited = template
      .replaceAll(/^( *)\/\/ ( *["{].*,)$/gmu, '$1$2')
      .replace('"sha256": "..."', `"sha256": "${hashSecret(randomUUID()).sha256}"`)
      .replace('output of grantry hash-password', await hashPassword('alice-password'))
    writeFileSync(file, edited)
    const { out } = await printed('check', '--json', '--config', file)
    expect(JSON.parse(out)).toMatchObject({ findings: [{ id: 'issuer-loopback' }] })
    const { configuration } = await loadConfiguration(file, { GRANTRY_KEY_SECRET: randomUUID() })
    expect(configuration).toMatchObject({
      clients: [{ clientId: 'web', clientName: 'Example' }, { clientId: 'service' }],
      users: [{ username: 'alice' }],
      plugins: [{ name: 'sign-in', pages: { name: 'Example' } }],
    })
  })

  test('shows the secrets once: no file contains them, and only this user can read the files', async () => {
    const directory = join(emptyDirectory(), 'new', 'place')
    const { code, out } = await printed('init', directory)
    expect(code).toBe(0)
    const [client = '', api = ''] = secretsIn(out)
    expect(client).not.toBe(api)
    const names = readdirSync(directory)
    expect(names).toContain('grantry.config.json')
    expect(statSync(directory).mode & 0o777).toBe(0o700)
    for (const name of names) {
      const path = join(directory, name)
      expect(statSync(path).mode & 0o777).toBe(0o600)
      const text = readFileSync(path, 'utf8')
      for (const secret of [client, api]) expect(text).not.toContain(secret)
      // Secrets in a file are not printed.
      if (name !== 'grantry.config.json') for (const secret of secretsIn(text)) expect(out).not.toContain(secret)
    }
  })

  test('fails with one line and changes nothing on a second run', async () => {
    const directory = emptyDirectory()
    await printed('init', directory)
    const before = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'utf8'))
    const { code, out, err } = await printed('init', directory)
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^grantry: .*grantry\.config\.json already exists and was not changed; [^\n]+\n$/u)
    expect(readdirSync(directory).map((name) => readFileSync(join(directory, name), 'utf8'))).toEqual(before)
  })

  test('writes nothing if one of the other files exists', async () => {
    const directory = emptyDirectory()
    await printed('init', directory)
    rmSync(join(directory, 'grantry.config.json'))
    const left = readdirSync(directory)
    expect((await printed('init', directory)).code).toBe(1)
    expect(readdirSync(directory)).toEqual(left)
  })

  test('stores in a SQLite file, or in files where the runtime has no SQLite', async () => {
    const directory = emptyDirectory()
    await printed('init', directory)
    const { configuration } = await loadConfiguration(join(directory, 'grantry.config.json'), {})
    expect(isSqliteAvailable()).toBe(true)
    expect(configuration.storage).toMatchObject({ driver: 'sqlite', file: './data/grantry.db' })

    const facts = { issuer: configuration.issuer, clientHash: '', apiHash: '' }
    const differing = (hasSqlite: boolean) =>
      configurationTemplate({ ...facts, hasSqlite }).match(/"storage": .*/u)?.[0]
    expect(differing(true)).toBe('"storage": { "driver": "sqlite", "file": "./data/grantry.db" },')
    expect(differing(false)).toBe('"storage": { "driver": "filesystem", "directory": "./data" },')
  })

  test('writes a .gitignore that keeps secrets and tokens out of version control', async () => {
    const directory = emptyDirectory()
    const { out } = await printed('init', directory)
    expect(out).toContain(`${join(directory, '.gitignore')}   (keeps secrets and tokens out of version control)\n`)
    const lines = readFileSync(join(directory, '.gitignore'), 'utf8').split('\n')
    expect(lines).toEqual([expect.stringMatching(/^# /u), '/grantry.env', '/data/', ''])
  })

  test('does not change an existing .gitignore, and prints the lines to add', async () => {
    const directory = emptyDirectory()
    writeFileSync(join(directory, '.gitignore'), 'node_modules\n')
    const { code, out } = await printed('init', directory)
    expect(code).toBe(0)
    expect(out).toContain(
      `Add these lines to the existing ${join(directory, '.gitignore')}:\n  /grantry.env\n  /data/\n`,
    )
    expect(readFileSync(join(directory, '.gitignore'), 'utf8')).toBe('node_modules\n')
  })

  test('fails with one line if the directory is a file', async () => {
    const file = join(emptyDirectory(), 'file')
    writeFileSync(file, '')
    const { code, err } = await printed('init', file)
    expect(code).toBe(1)
    expect(err).toMatch(/^grantry: cannot write to [^\n]+ \((?:EEXIST|ENOTDIR)\); [^\n]+\n$/u)
  })

  // The recursive mkdir of Node.js loops forever there.
  test.skipIf(process.platform !== 'linux')('fails with one line if the directory cannot be created', async () => {
    const { code, out, err } = await printed('init', '/proc/nowhere/x')
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^grantry: cannot write to \/proc\/nowhere\/x \((?:ENOENT|EACCES|EPERM)\); [^\n]+\n$/u)
  })

  // A limit on the file size simulates a full disk.
  test.skipIf(process.platform === 'win32')('leaves no partial files behind', async () => {
    const directory = emptyDirectory()
    const command = `ulimit -f 1; exec "$0" "$1" init`
    const failed = await shell('sh', ['-c', command, process.execPath, `${root}/packages/server/bin/grantry.js`], {
      cwd: directory,
    }).catch((error: { code: number; stderr: string }) => error)
    expect(failed).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^grantry: cannot write to .+ \(EFBIG\); /u),
    })
    expect(readdirSync(directory)).toEqual([])
  })

  // The server would reject it, too.
  test.each([
    'ftp://id.example.com',
    'https://id.example.com/',
    'id.example.com',
    'https://a:b@c',
    'https://ID.example.com',
    'https://id.example.com:443',
    'https://id.example.com/a/../b',
    'http:///id.example.com',
  ])('rejects the issuer %s before it writes a file', async (issuer) => {
    const directory = emptyDirectory()
    const { code, err } = await printed('init', directory, '--issuer', issuer)
    expect(code).toBe(1)
    expect(err).toMatch(/^grantry: --issuer [^\n]+\n$/u)
    expect(readdirSync(directory)).toEqual([])
  })
})
