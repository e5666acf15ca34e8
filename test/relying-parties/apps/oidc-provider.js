// oidc-provider, at which users of Grantry sign in, with the settings in PROVIDER. Prints a line when it listens. Ends
// with its input.
import Provider from 'oidc-provider'

const { issuer, port, client } = JSON.parse(process.env.PROVIDER)

const provider = new Provider(issuer, {
  clients: [{ ...client, grant_types: ['authorization_code'], response_types: ['code'] }],
  claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'] },
  findAccount: (_context, id) => ({
    accountId: id,
    claims: () => ({ sub: id, name: `${id} there`, email: `${id}@there.example`, email_verified: true }),
  }),
  pkce: { required: () => true },
  // By default, it sends nothing to loopback addresses.
  fetch: (url, { dispatcher: _, ...options }) => fetch(url, options),
  cookies: { keys: ['the key of a test'] },
  features: {
    devInteractions: { enabled: true },
    backchannelLogout: { enabled: true },
    rpInitiatedLogout: { enabled: true },
    userinfo: { enabled: true },
  },
})
// What a client could omit.
provider.on('authorization.accepted', ({ oidc: { params } }) => {
  process.stdout.write(`${JSON.stringify({ nonce: params.nonce?.length, state: params.state?.length })}\n`)
})
provider.on('backchannel.error', (_context, error) => process.stderr.write(`${error}\n`))
provider.listen(port, '127.0.0.1', () => process.stdout.write('listening\n'))
process.stdin.resume().on('end', () => process.exit())
