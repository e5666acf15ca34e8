import { mtls } from '@grantry/plugins/mtls'
import { testPlugin } from '@grantry/testing'
import { test } from 'vitest'
import { certificate, commonName, type Issued } from './certificates.ts'
import { presented, selfSigned } from './parties.ts'

const clientCertificate = certificate()
const sameKey = certificate({ sameKeyAs: clientCertificate })
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
        authenticate: credentials(clientCertificate, true),
        refused: [
          credentials(clientCertificate, false),
          credentials(certificate({ subject: commonName('other') }), true),
        ],
      },
      self_signed_tls_client_auth: {
        client: selfSigned({ ...clientCertificate.jwk, x5c: [clientCertificate.der] }),
        authenticate: credentials(clientCertificate, false),
        refused: [credentials(sameKey, false)],
      },
    },
    bindings: {
      'x5t#S256': {
        client: { tlsClientCertificateBoundAccessTokens: true },
        prove: () => ({}),
        clientCertificate: ({ key }) => presented(key === 'first' ? clientCertificate : sameKey),
        singleUse: false,
      },
    },
  })
})
