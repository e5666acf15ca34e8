import { environmentFileName } from '../configuration/environment-file.ts'
import { version } from '../version.ts'
import { schemaAddress } from './schema-address.ts'

interface TemplateFacts {
  readonly issuer: string
  /** Base64 of the SHA-256 of each secret. */
  readonly clientHash: string
  readonly apiHash: string
}

/** The configuration that `grantry init` writes: what an operator changes first, with the reason beside it. */
export const configurationTemplate = ({ issuer, clientHash, apiHash }: TemplateFacts): string => `\
// The configuration of this Grantry server. After a change: grantry check, then restart the server.
{
  // For editors: completes and checks what is written here.
  "$schema": ${JSON.stringify(schemaAddress(version))},

  // The URL of this server as clients see it. Before others use it: an https URL, a proxy with a certificate before the
  // server, and "trustedProxies": 1.
  "issuer": ${JSON.stringify(issuer)},

  // Codes and tokens: files on this machine, for any number of processes. Several machines: "driver": "redis".
  "storage": { "driver": "filesystem", "directory": "./data" },

  // Signing keys: made at the first start, kept in the storage under the encryption secret, replaced every 90 days.
  // \${GRANTRY_KEY_SECRET} is read from the environment, or from ${environmentFileName} beside this file.
  // OpenID Connect wants RS256 offered; ES256, the first, signs unless a client has "identityTokenAlgorithm": "RS256".
  "keys": { "algorithms": ["ES256", "RS256"], "rotateAfter": 7776000, "encryptionSecret": "\${GRANTRY_KEY_SECRET}" },

  "clients": [
    {
      // A service that gets tokens for itself. Only the hash of its secret is here; a new one: grantry hash-secret
      "clientId": "service",
      "secrets": [{ "sha256": "${clientHash}" }],
      "grantTypes": ["client_credentials"],
      "scopes": ["api1"],
      "accessTokenLifetime": 3600
    }
    // A web application with your login page (it calls createAuthorizationCode(), see the guide on embedding):
    // { "clientId": "web", "secrets": [{ "sha256": "..." }], "grantTypes": ["authorization_code", "refresh_token"],
    //   "scopes": ["openid", "profile", "offline_access", "api1"], "redirectUris": ["https://web.example.com/callback"] }
  ],

  "scopes": [
    // An API. It asks what a token is worth (POST /connect/introspect) with this name and its own secret.
    { "name": "api1", "secrets": [{ "sha256": "${apiHash}" }], "audience": "https://api1.example.com" }
  ],

  // "users": [{ "sub": "1", "username": "alice", "password": "what grantry hash-password prints" }],

  // The older validation endpoint answers anybody; introspection replaces it.
  "endpoints": { "accessTokenValidation": false },

  // How many hops from the right of X-Forwarded-For are proxies of yours.
  "trustedProxies": 0
}
`
