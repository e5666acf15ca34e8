import { scryptSync } from 'node:crypto'
import { type Credentials, sha256Of } from '@grantry/testing'
import { reservedPort } from '../support/reserved-port.ts'

/** An application of `apps/`. */
export interface Setting {
  readonly port: number
  readonly clientId: string
  /** Without one, it is a public client. */
  readonly secret?: string
  /** The path of its redirect URI; `undefined` if the URI has a free port. */
  readonly callback: string | undefined
  /** Whether it is a page that runs scripts. */
  readonly needsScripts?: true
}

const applications: Readonly<Record<string, Omit<Setting, 'port' | 'clientId'>>> = {
  'openid-client': { secret: 'openid-client-secret', callback: '/callback' },
  'express-openid-connect': { secret: 'express-openid-connect-secret', callback: '/callback' },
  'auth-js': { secret: 'auth-js-secret', callback: '/auth/callback/grantry' },
  passport: { secret: 'passport-secret', callback: '/callback' },
  'oidc-client-ts': { callback: '/callback', needsScripts: true },
  loopback: { callback: undefined },
}

/** Returns the settings of all applications, by their names. */
export async function settingsFor(): Promise<Readonly<Record<string, Setting>>> {
  const all: Record<string, Setting> = {}
  for (const [name, application] of Object.entries(applications)) {
    all[name] = { ...application, clientId: name, port: await reservedPort() }
  }
  return all
}

export const users: readonly [Credentials, Credentials] = [
  ['alice', 'the password'],
  ['bob', 'the password'],
]

/** The lowest cost that the server accepts. */
function passwordHash(password: string): string {
  const salt = Buffer.from('salt of a test..')
  const text = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')
  return `$scrypt$ln=10,r=8,p=1$${text(salt)}$${text(scryptSync(password, salt, 32, { N: 1024, r: 8, p: 1 }))}`
}

function clientOf({ clientId, secret, port, callback }: Setting): object {
  const home = `http://127.0.0.1:${port}`
  return {
    clientId,
    clientName: `The application ${clientId}`,
    ...(secret === undefined ? { public: true } : { secrets: [{ sha256: sha256Of(secret) }] }),
    grantTypes: ['authorization_code', 'refresh_token'],
    scopes: ['openid', 'profile', 'offline_access'],
    redirectUris: [callback === undefined ? 'http://127.0.0.1/callback' : `${home}${callback}`],
    postLogoutRedirectUris: [`${home}/`, home],
    allowedCorsOrigins: [home],
  }
}

/** Returns the configuration of the server. */
export const configurationFor = (issuer: string, settings: Readonly<Record<string, Setting>>): object => ({
  issuer,
  storage: { driver: 'memory' },
  keys: { algorithms: ['RS256'] },
  clients: Object.values(settings).map(clientOf),
  users: users.map(([username, password]) => ({
    sub: `sub of ${username}`,
    username,
    password: passwordHash(password),
    claims: { name: `Name of ${username}` },
  })),
  plugins: [{ name: 'sign-in', pages: { name: 'Relying parties' } }],
})
