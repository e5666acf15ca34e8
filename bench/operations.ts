/** Operations with a DPoP proof in each request. Only Grantry is measured. */
export const provingOperations = ['client-credentials-dpop', 'userinfo-dpop'] as const

/** From a request of a browser with a session to the tokens: two requests. */
export const signInOperation = 'sign-in'

/** The measured operations. Each connection sends one request at a time. */
export const operationNames = [
  'client-credentials-opaque',
  'client-credentials-es256',
  'client-credentials-rs256',
  'introspection',
  'userinfo',
  'refresh',
  'password',
  'authorization-code',
  signInOperation,
  ...provingOperations,
] as const

/** The operations on Redis. Signing does not use a store. */
export const redisOperationNames = [
  'client-credentials-opaque',
  'introspection',
  'userinfo',
  'refresh',
  'password-5000-users',
  'password',
  'authorization-code',
  signInOperation,
] as const

/** The operations on PostgreSQL. */
export const postgresqlOperationNames = [
  'client-credentials-opaque',
  'introspection',
  'userinfo',
  'refresh',
  'authorization-code',
] as const

/** Includes the baseline of the adapters: read a form and respond with a short text. */
export type OperationName = (typeof operationNames)[number] | (typeof redisOperationNames)[number] | 'floor'

/** The same for every server, so that the request bytes are the same too. */
export const paths = {
  authorization: '/connect/authorize',
  token: '/connect/token',
  introspection: '/connect/introspect',
  userinfo: '/connect/userinfo',
} as const

type Credentials = readonly [id: string, secret: string]

/** Receives reference tokens. Secrets are as long as generated ones. */
export const opaqueClient: Credentials = ['web', 'bGv5Q2tq0dXk3mVYw8JcR1nZ7uTfHsPaLe9iOyK4xgM']
/** Receives JWT access tokens. */
export const jwtClient: Credentials = ['web-jwt', 'Zk3mVYw8JcR1nZ7uTfHsPaLe9iOyK4xgMbGv5Q2tq0d']
/** The API that introspects tokens. */
export const api: Credentials = ['api1', 'TfHsPaLe9iOyK4xgMbGv5Q2tq0dXk3mVYw8JcR1nZ7u']

export const issuer = 'https://id.example.com'
export const audience = 'https://api1.example.com'
/** Seconds. */
export const accessTokenLifetime = 3600

export const passwordOf = (username: string): string => `${username}-password`

export const user = {
  username: 'alice',
  password: passwordOf('alice'),
  sub: '1',
  claims: { name: 'Alice Smith', given_name: 'Alice', family_name: 'Smith', preferred_username: 'alice' },
} as const

/** Number of the other users, over which `password-5000-users` spreads its logins. */
export const userCount = 5000

/** Registered for the client that redeems codes. */
export const redirectUri = 'https://web.example.com/callback'
/** Seconds. Codes of a slice are issued before it starts. */
export const codeLifetime = 600

/** Length of the baseline response, in bytes. */
export const floorLength = 200

/** Scopes of the tokens that are issued before the first request. */
export const issuedScopes = {
  introspection: ['api1'],
  userinfo: ['openid', 'profile'],
  refresh: ['api1', 'offline_access'],
  'authorization-code': ['api1', 'offline_access'],
  'sign-in': ['openid', 'api1'],
} as const
/** An operation that presents issued tokens or codes. */
export type PresentingOperation = keyof typeof issuedScopes

/** An operation that presents proofs. */
export type ProvingOperation = (typeof provingOperations)[number]

export const proves = (operation: OperationName): operation is ProvingOperation =>
  provingOperations.some((name) => name === operation)

export const presentsIssued = (operation: OperationName): operation is PresentingOperation => operation in issuedScopes

/**
 * How the requests of an operation present tokens: all the same one, each connection the refresh token of its previous
 * response, each request a new one, the tokens of a list in turn, again from its start, or each connection its own one,
 * in a request whose response redirects with a code for the next request.
 */
export type Presentation = 'same' | 'rotated' | 'spent' | 'in turn' | 'exchanged'

interface Call {
  readonly path: string
  readonly authorization?: (token: string) => string
  readonly cookie?: (token: string) => string
  /** The header `DPoP`. */
  readonly proof?: (token: string) => string
  /** The request body. A call without one is a GET. */
  readonly form?: (token: string) => string
  /** Default: `same`. */
  readonly presents?: Presentation
}

const basic = (credentials: Credentials): string => `Basic ${Buffer.from(credentials.join(':')).toString('base64')}`

const asClient = (credentials: Credentials, form: (token: string) => string): Call => {
  const authorization = basic(credentials)
  return { path: paths.token, authorization: () => authorization, form }
}

const clientCredentials = (credentials: Credentials): Call =>
  asClient(credentials, () => 'grant_type=client_credentials&scope=api1')

/** The token of this form is a user name. */
const login = (username: string): string =>
  `grant_type=password&username=${username}&password=${passwordOf(username)}&scope=api1+offline_access`

const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'

/** A request of a client that uses PKCE. */
export const authorizationQuery = new URLSearchParams({
  client_id: opaqueClient[0],
  response_type: 'code',
  redirect_uri: redirectUri,
  scope: issuedScopes['sign-in'].join(' '),
  state: 'af0ifjsldkj',
  nonce: 'n-0S6_WzA2Mj',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
}).toString()

const redeeming = (code: string): string =>
  `grant_type=authorization_code&redirect_uri=${encodeURIComponent(redirectUri)}&code=${encodeURIComponent(code)}`

const calls: Readonly<Record<OperationName, Call>> = {
  'client-credentials-opaque': clientCredentials(opaqueClient),
  'client-credentials-es256': clientCredentials(jwtClient),
  'client-credentials-rs256': clientCredentials(jwtClient),
  introspection: { ...asClient(api, (token) => `token=${token}`), path: paths.introspection },
  userinfo: { path: paths.userinfo, authorization: (token) => `Bearer ${token}` },
  refresh: {
    ...asClient(opaqueClient, (token) => `grant_type=refresh_token&refresh_token=${encodeURIComponent(token)}`),
    presents: 'rotated',
  },
  floor: clientCredentials(opaqueClient),
  'client-credentials-dpop': { ...clientCredentials(opaqueClient), proof: (token) => token, presents: 'spent' },
  // The access token and the proof.
  'userinfo-dpop': {
    path: paths.userinfo,
    authorization: (token) => `DPoP ${token.split(' ')[0]}`,
    proof: (token) => token.split(' ')[1] ?? '',
    presents: 'spent',
  },
  password: asClient(opaqueClient, () => login(user.username)),
  'password-5000-users': { ...asClient(opaqueClient, login), presents: 'in turn' },
  'authorization-code': {
    ...asClient(opaqueClient, redeeming),
    presents: 'spent',
  },
  'sign-in': {
    path: `${paths.authorization}?${authorizationQuery}`,
    cookie: (token) => token,
    presents: 'exchanged',
  },
}

/** The second request of a sign-in. */
const exchange: Call = asClient(opaqueClient, (code) => `${redeeming(code)}&code_verifier=${verifier}`)

export const presentation = (operation: OperationName): Presentation => calls[operation].presents ?? 'same'

/** How the requests and responses of a server with an interface of its own differ. */
export interface Dialect {
  /** Its paths for ours. */
  readonly routes?: Readonly<Record<string, string>>
  /** Added to the bodies of an operation. */
  readonly fields?: Partial<Readonly<Record<OperationName, string>>>
  /** Its reference and refresh tokens have a format of their own. */
  readonly ownTokens?: boolean
}

function routed(path: string, { routes = {} }: Dialect): string {
  const [name = '', query] = path.split('?')
  return `${routes[name] ?? name}${query === undefined ? '' : `?${query}`}`
}

function bytesOf({ path, form, ...headers }: Call, token: string, dialect: Dialect, more = ''): string {
  const { authorization, cookie, proof: dpop } = headers
  const fields = Object.entries({ authorization, cookie, dpop }).map(([name, value]) =>
    value === undefined ? '' : `${name}: ${value(token)}\r\n`,
  )
  const head = `${routed(path, dialect)} HTTP/1.1\r\nhost: 127.0.0.1\r\n${fields.join('')}`
  if (form === undefined) return `GET ${head}\r\n`
  const body = form(token) + more
  return `POST ${head}content-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

/** Returns the bytes of one request. */
export const requestOf = (operation: OperationName, token: string, dialect: Dialect = {}): string =>
  bytesOf(calls[operation], token, dialect, dialect.fields?.[operation])

/** Returns the bytes of the request that redeems the code of a sign-in. */
export const exchangeOf = (code: string, dialect: Dialect = {}): string => bytesOf(exchange, code, dialect)
