/** The measured operations. Each connection sends one request at a time. */
export const operationNames = [
  'client-credentials-opaque',
  'client-credentials-es256',
  'client-credentials-rs256',
  'introspection',
  'userinfo',
  'refresh',
  'password',
] as const
/** Includes the baseline of the adapters: read a form and respond with a short text. */
export type OperationName = (typeof operationNames)[number] | 'floor'

/** The same for every server, so that the request bytes are the same too. */
export const paths = {
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

export const user = {
  username: 'alice',
  password: 'alice-password',
  sub: '1',
  claims: { name: 'Alice Smith', given_name: 'Alice', family_name: 'Smith', preferred_username: 'alice' },
} as const

/** Length of the baseline response, in bytes. */
export const floorLength = 200

/** Scopes of the tokens that are issued before the first request. */
export const heldScopes = {
  introspection: ['api1'],
  userinfo: ['openid', 'profile'],
  refresh: ['api1', 'offline_access'],
} as const

interface Call {
  readonly path: string
  readonly authorization: (token: string) => string
  /** The request body. A call without one is a GET. */
  readonly form?: (token: string) => string
  /** Each request presents the refresh token of the previous response. */
  readonly rotates?: true
}

const basic = (credentials: Credentials): string => `Basic ${Buffer.from(credentials.join(':')).toString('base64')}`

const asClient = (credentials: Credentials, form: (token: string) => string): Call => {
  const authorization = basic(credentials)
  return { path: paths.token, authorization: () => authorization, form }
}

const clientCredentials = (credentials: Credentials): Call =>
  asClient(credentials, () => 'grant_type=client_credentials&scope=api1')

const calls: Readonly<Record<OperationName, Call>> = {
  'client-credentials-opaque': clientCredentials(opaqueClient),
  'client-credentials-es256': clientCredentials(jwtClient),
  'client-credentials-rs256': clientCredentials(jwtClient),
  introspection: { ...asClient(api, (token) => `token=${token}`), path: paths.introspection },
  userinfo: { path: paths.userinfo, authorization: (token) => `Bearer ${token}` },
  refresh: {
    ...asClient(opaqueClient, (token) => `grant_type=refresh_token&refresh_token=${encodeURIComponent(token)}`),
    rotates: true,
  },
  floor: clientCredentials(opaqueClient),
  password: asClient(
    opaqueClient,
    () => `grant_type=password&username=${user.username}&password=${user.password}&scope=api1+offline_access`,
  ),
}

export const rotates = (operation: OperationName): boolean => calls[operation].rotates === true

/** Returns the bytes of one request. */
export function requestOf(operation: OperationName, token: string): string {
  const { path, authorization, form } = calls[operation]
  const head = `${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${authorization(token)}\r\n`
  if (form === undefined) return `GET ${head}\r\n`
  const body = form(token)
  return `POST ${head}content-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}
