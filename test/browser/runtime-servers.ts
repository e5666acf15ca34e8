// Two ready servers on a runtime: users of one sign in at the other one, too. Its mails arrive by SMTP on loopback.
import { scryptSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startProgram } from '../contract/program.ts'
import { readyServerProgram } from '../runtimes/ready-server.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { type ArrivedMail, startSmtpServer } from '../support/smtp-server.ts'

export interface RuntimeServers {
  /** The server whose pages the browser opens. */
  readonly issuer: string
  /** The path and the query with which the client begins a sign-in. */
  readonly authorizationPath: string
  readonly mails: readonly ArrivedMail[]
  /** Redeems a code of the client. */
  identityToken(code: string): Promise<string>
  close(): Promise<void>
}

const unpadded = (data: Buffer): string => data.toString('base64').replaceAll('=', '')
const salt = Buffer.from('salt of a test')
const hash = scryptSync('there-password', salt, 32, { N: 1024, r: 8, p: 1 })
const password = `$scrypt$ln=10,r=8,p=1$${unpadded(salt)}$${unpadded(hash)}`

const client = {
  public: true,
  requireConsent: false,
  grantTypes: ['authorization_code'],
  scopes: ['openid'],
}

/** The other Grantry. */
const configurationOfOther = (issuer: string, clientIssuer: string) => ({
  issuer,
  storage: { driver: 'memory' },
  clients: [{ ...client, clientId: 'grantry', redirectUris: [`${clientIssuer}/connect/upstream/grantry/callback`] }],
  users: ['alice', 'bob', 'carol', 'dave'].map((username) => ({ sub: `${username} there`, username, password })),
  plugins: [{ name: 'sign-in', pages: { name: 'Other' } }],
})

interface Around {
  readonly otherIssuer: string
  readonly redirectUri: string
  readonly mailUrl: string
}

const configurationOf = (issuer: string, { otherIssuer, redirectUri, mailUrl }: Around) => ({
  issuer,
  storage: { driver: 'memory' },
  administration: true,
  clients: [{ ...client, clientId: 'spa', redirectUris: [redirectUri] }],
  mail: { url: mailUrl, from: 'Example <id@example.com>' },
  plugins: [
    {
      name: 'sign-in',
      pages: { name: 'Example' },
      account: {},
      accounts: { signUp: 'open' },
      passkeys: true,
      providers: [
        {
          preset: 'grantry',
          issuer: otherIssuer,
          displayName: 'Other',
          clientId: 'grantry',
          scope: 'openid',
          allowPrivateAddresses: true,
        },
      ],
    },
  ],
})

const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

/** Starts both servers with a command of a runtime, the mail server, and the page of the client. */
export async function startOnRuntime([command = '', ...parameters]: readonly string[]): Promise<RuntimeServers> {
  const directory = await mkdtemp(join(tmpdir(), 'grantry-browser-'))
  const smtp = await startSmtpServer()
  const page = createServer((_, response) => response.end('ok'))
  await new Promise<void>((resolve) => {
    page.listen(0, '127.0.0.1', resolve)
  })
  const redirectUri = `http://127.0.0.1:${(page.address() as AddressInfo).port}/callback`
  const [port, otherPort] = [await reservedPort(), await reservedPort()]
  // The domain of a passkey is a name, not an address.
  const issuer = `http://localhost:${port}`
  const otherIssuer = `http://127.0.0.1:${otherPort}`

  async function start(name: string, configuration: object, at: number) {
    const file = join(directory, name)
    await writeFile(file, JSON.stringify(configuration))
    return startProgram(command, [...parameters, await readyServerProgram(), file, String(at)])
  }
  const around = { otherIssuer, redirectUri, mailUrl: smtp.url }
  const started = [
    await start('other.config.json', configurationOfOther(otherIssuer, issuer), otherPort),
    await start('grantry.config.json', configurationOf(issuer, around), port),
  ]

  const request = { client_id: 'spa', redirect_uri: redirectUri, response_type: 'code', scope: 'openid' }
  const proof = { code_challenge: challenge, code_challenge_method: 'S256' }
  return {
    issuer,
    authorizationPath: `/connect/authorize?${new URLSearchParams({ ...request, ...proof })}`,
    mails: smtp.mails,
    async identityToken(code) {
      const form = { client_id: 'spa', grant_type: 'authorization_code', code, redirect_uri: redirectUri }
      const body = new URLSearchParams({ ...form, code_verifier: verifier })
      const response = await fetch(`${issuer}/connect/token`, { method: 'POST', body })
      const { id_token: token } = (await response.json()) as { id_token: string }
      return token
    },
    async close() {
      await Promise.all(started.map((server) => server.stop()))
      await Promise.all([smtp.close(), rm(directory, { recursive: true, force: true })])
      page.close()
    },
  }
}
