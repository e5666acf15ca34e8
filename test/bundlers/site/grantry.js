import { appendFileSync } from 'node:fs'
import { storedKeys } from '@grantry/core'
import { handlers } from '@grantry/next'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { loginPage } from '@grantry/plugins/authorization-endpoint'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { proofKey } from '@grantry/plugins/proof-key'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { createPasswordCheck, parsePasswordHash } from '@grantry/users/password-hash'

const { SITE_STORAGE: directory, SITE_LOG: log, SITE_HASH: hash } = process.env
const isPassword = createPasswordCheck()
const name = 'web' // The test edits this line.

const secrets = [{ sha256: 'D6JU72y6Ykpvp/9Gf/vmmLlF7UhCBzU2pf/Dx5G3xF4=' }]

export const grantry = handlers(() => {
  appendFileSync(log, 'opened\n')
  return {
    issuer: 'https://site.example.com/id',
    keys: storedKeys({ algorithms: ['ES256'] }),
    storage: { ...filesystemDriver({ directory }), dispose: () => appendFileSync(log, 'closed\n') },
    clients: [
      {
        clientId: 'web',
        secrets,
        grantTypes: ['authorization_code'],
        scopes: ['openid'],
        redirectUris: ['https://client.example.com/callback'],
      },
      {
        clientId: 'app',
        secrets,
        grantTypes: ['authorization_code'],
        scopes: ['openid'],
        redirectUris: ['https://site.example.com/auth/callback'],
      },
      { clientId: `${name}-service`, secrets, grantTypes: ['client_credentials'], scopes: ['api'] },
    ],
    scopes: [{ name: 'api' }],
    users: {
      authenticate: async ({ username, password }) =>
        username === 'alice' && (await isPassword(password, parsePasswordHash(hash))) ? { sub: '1' } : undefined,
    },
    plugins: [authorizationCode(), proofKey(), clientCredentials(), loginPage()],
    authorizationEndpoint: 'https://site.example.com/id/authorize',
  }
})
