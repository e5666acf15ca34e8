import { environmentFileName } from '../configuration/environment-file.ts'
import { version } from '../version.ts'

/** Returns the URL of the JSON Schema of the configuration, in this version of the package `grantry`. */
export const schemaAddress = (version: string): string =>
  `https://unpkg.com/grantry@${version}/dist/configuration.schema.json`

interface TemplateFacts {
  /** Whether this runtime has SQLite. */
  readonly hasSqlite: boolean
  readonly issuer: string
  /** Base64 of the SHA-256 of each secret. */
  readonly clientHash: string
  readonly apiHash: string
  /** A user, the web application and the sign-in; absent without `--sign-in`. */
  readonly signIn?: SignInFacts | undefined
}

interface SignInFacts {
  readonly username: string
  readonly passwordHash: string
  readonly clientHash: string
  readonly redirectUri: string
}

const webClient = ({ clientHash, redirectUri }: SignInFacts): string => `\
    // A web application, whose users sign in on the pages of "plugins", below.
    {
      "clientId": "web",
      "clientName": "Example",
      "secrets": [{ "sha256": "${clientHash}" }],
      "grantTypes": ["authorization_code", "refresh_token"],
      "scopes": ["openid", "profile", "offline_access", "api1"],
      // Replace it with the URL of your application to which users return with a code.
      "redirectUris": [${JSON.stringify(redirectUri)}]
    },`

const webClientComment = `\
    // A web application. Its users sign in on the pages of "plugins", below.
    // { "clientId": "web", "clientName": "Example", "secrets": [{ "sha256": "..." }],
    //   "grantTypes": ["authorization_code", "refresh_token"], "scopes": ["openid", "profile", "offline_access", "api1"],
    //   "redirectUris": ["https://web.example.com/callback"], "postLogoutRedirectUris": ["https://web.example.com/"] },`

const usersAndPages = ({ username, passwordHash }: SignInFacts): string => `\
  "users": [{ "sub": "1", "username": ${JSON.stringify(username)}, "password": "${passwordHash}" }],
  "plugins": [{ "name": "sign-in", "pages": { "name": "Example" } }],`

const usersAndPagesComment = `\
  // "users": [{ "sub": "1", "username": "alice", "password": "output of grantry hash-password" }],
  // "plugins": [{ "name": "sign-in", "pages": { "name": "Example" } }],`

const sqliteFile = `\
  // Where codes and tokens are stored: a SQLite file that any number of processes on this machine share. For several
  // machines, use PostgreSQL or Redis: docs/guides/storage.md.
  "storage": { "driver": "sqlite", "file": "./data/grantry.db" },`

const files = `\
  // Where codes and tokens are stored: files that any number of processes on this machine share. For several machines,
  // use PostgreSQL or Redis: docs/guides/storage.md.
  "storage": { "driver": "filesystem", "directory": "./data" },`

/** Returns the commented configuration that `grantry init` writes. */
export const configurationTemplate = ({ issuer, clientHash, apiHash, signIn, hasSqlite }: TemplateFacts): string => `\
// The configuration of this Grantry server. After a change, run grantry check, and restart the server or send it SIGHUP.
{
  // Completion and validation in editors.
  "$schema": ${JSON.stringify(schemaAddress(version))},

  // The URL of this server as seen by clients. In production, set it to an https URL, terminate TLS in a reverse proxy,
  // and set "trustedProxies" to 1.
  "issuer": ${JSON.stringify(issuer)},

${hasSqlite ? sqliteFile : files}

  // Signing keys: created at the first start, encrypted in the storage, rotated every 90 days (7776000 seconds).
  // \${GRANTRY_KEY_SECRET} is read from the environment, or from ${environmentFileName} next to this file.
  // Identity tokens are signed with RS256, as OpenID Connect clients expect, all other tokens with ES256, the first. A
  // client can set another "identityTokenAlgorithm".
  "keys": { "algorithms": ["ES256", "RS256"], "rotateAfter": 7776000, "encryptionSecret": "\${GRANTRY_KEY_SECRET}" },

  // Commands add and change more clients while the server runs, such as grantry clients add.
  "administration": true,

  "clients": [
${signIn === undefined ? webClientComment : webClient(signIn)}
    {
      // A service that gets tokens for itself. Only the hash of its secret is stored. New secret: grantry hash-secret
      "clientId": "service",
      "secrets": [{ "sha256": "${clientHash}" }],
      "grantTypes": ["client_credentials"],
      "scopes": ["api1"],
      "accessTokenLifetime": 3600
    }
  ],

  "scopes": [
    // An API. It introspects tokens (POST /connect/introspect) with this name and its own secret.
    { "name": "api1", "secrets": [{ "sha256": "${apiHash}" }], "audience": "https://api1.example.com" }
  ],

  // Users, and the pages on which they sign in and consent. See docs/guides/sign-in.md.
${signIn === undefined ? usersAndPagesComment : usersAndPages(signIn)}

  // The legacy validation endpoint requires no authentication. Use introspection instead.
  "endpoints": { "accessTokenValidation": false },

  // The number of your own reverse proxies, counted from the right of X-Forwarded-For.
  "trustedProxies": 0
}
`
