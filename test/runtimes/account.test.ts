// The page of the account on each runtime: sessions, an authenticator app with its code, recovery codes, and a passkey.
import { scryptSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeAt, codesIn, secretIn } from '../account/factors.ts'
import { challengeIn, optionsIn } from '../account/passkeys.ts'
import { startProgram } from '../contract/program.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'
import { createHttpBrowser } from '../support/sign-in.ts'
import { readyServerProgram } from './ready-server.ts'

const unpadded = (data: Buffer): string => data.toString('base64').replaceAll('=', '')
const salt = Buffer.from('salt of a test')
const hash = scryptSync('alice-password', salt, 32, { N: 1024, r: 8, p: 1 })
const password = `$scrypt$ln=10,r=8,p=1$${unpadded(salt)}$${unpadded(hash)}`

const configurationOf = (issuer: string) => ({
  issuer,
  storage: { driver: 'memory' },
  clients: [],
  users: [{ sub: 'u', username: 'alice', password }],
  plugins: [
    {
      name: 'sign-in',
      account: { requireSecondFactor: true },
      passkeys: true,
      secondFactors: { encryptionSecrets: ['x'.repeat(32)] },
    },
  ],
})

/** No redirect leads away from the provider. */
const nowhere = 'nowhere:'

/** A browser of alice at a running server. */
function browserAt(issuer: string) {
  const { visit, submit } = createHttpBrowser()
  const open = (path = '') => visit(`${issuer}/account${path}`, nowhere)
  const send = (html: string, fields: Readonly<Record<string, string>>) => submit(html, fields, nowhere)
  const credentials = { username: 'alice', password: 'alice-password' }
  return { open, send, signIn: async () => send((await open()).html, credentials) }
}

function testOn([command = '', ...parameters]: readonly string[]): void {
  let directory = ''
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'grantry-account-'))
  })
  afterAll(() => rm(directory, { recursive: true, force: true }))

  test('a user manages the account, sets up an app and adds a passkey', async () => {
    const port = await reservedPort()
    // Passkeys need a name.
    const issuer = `http://localhost:${port}`
    const file = join(directory, 'grantry.config.json')
    await writeFile(file, JSON.stringify(configurationOf(issuer)))
    const server = await startProgram(command, [...parameters, await readyServerProgram(), file, String(port)])
    try {
      const [laptop, phone, tablet] = [browserAt(issuer), browserAt(issuer), browserAt(issuer)]
      expect((await laptop.signIn()).html).toContain('id="sessions"')
      const list = await phone.signIn()
      expect(list.html).toContain('This device')
      expect(list.html).toContain('/account/sessions/end-others')

      const setUp = await laptop.open('/otp/set-up')
      const code = codeAt(secretIn(setUp), Math.floor(Date.now() / 1000))
      const codes = codesIn(await laptop.send(setUp.html, { code }))
      expect(codes).toHaveLength(10)
      // It began with the password alone.
      const asked = await phone.signIn()
      expect(asked.html).toContain('one-time-code')
      expect((await phone.send(asked.html, { code: codes[0] ?? '' })).html).toContain('id="sessions"')

      const device = createAuthenticator()
      const site = { origin: issuer, rpId: 'localhost' }
      const add = await laptop.open('/passkeys/add')
      const credential = device.register(optionsIn(add).challenge, site)
      expect((await laptop.send(add.html, { credential, name: 'Laptop' })).html).toContain('The passkey is added')
      const login = await tablet.open()
      const signed = await tablet.send(login.html, { credential: device.respond(challengeIn(login), site) })
      expect(signed.html).toContain('<bdi>Laptop</bdi>')
    } finally {
      await server.stop()
    }
  })
}

const bun = [runtimeExecutable('.bin/bun')]
const deno = [runtimeExecutable('.bin/deno'), 'run', '--allow-all', '--no-config', '--no-lock']

describe('on Node.js', () => testOn([process.execPath]))
describeWithRuntime('on Bun', bun[0] ?? '', () => testOn(bun))
describeWithRuntime('on Deno', deno[0] ?? '', () => testOn(deno))
