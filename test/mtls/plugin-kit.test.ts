import { mtls } from '@grantry/plugins/mtls'
import { testPlugin } from '@grantry/testing'
import { test } from 'vitest'
import { certificate, commonName, type Issued } from './certificates.ts'
import { presented, selfSigned } from './parties.ts'

const own = certificate()
const sameKey = certificate({ sameKeyAs: own })
const credentials =
  (of: Issued, verified: boolean) =>
  ({ clientId }: { readonly clientId: string }) => ({
    form: { client_id: clientId },
    clientCertificate: presented(of, verified),
  })

test('the plugin keeps the rules of every plugin', async () => {
  await testPlugin(() => mtls(), {
    methods: {
      tls_client_auth: {
        client: { tlsClientAuthSubjectDn: 'CN=client' },
        authenticate: credentials(own, true),
        refused: [credentials(own, false), credentials(certificate({ subject: commonName('other') }), true)],
      },
      self_signed_tls_client_auth: {
        client: selfSigned({ ...own.jwk, x5c: [own.der] }),
        authenticate: credentials(own, false),
        refused: [credentials(sameKey, false)],
      },
    },
    bindings: {
      'x5t#S256': {
        client: { tlsClientCertificateBoundAccessTokens: true },
        prove: () => ({}),
        clientCertificate: ({ key }) => presented(key === 'first' ? own : sameKey),
        singleUse: false,
      },
    },
  })
})
