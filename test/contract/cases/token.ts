import { basic } from '@grantry/core/testing'
import { web } from '../../support/fixture.ts'
import type { ContractCase } from '../contract-case.ts'
import { form, opaque, refused, success } from './common.ts'

export const tokenCases: readonly ContractCase[] = [
  {
    name: 'client credentials give an opaque token',
    steps: [
      {
        send: form('/connect/token', { grant_type: 'client_credentials', scope: 'api1' }, basic(web)),
        expect: {
          ...success,
          json: { access_token: opaque, token_type: 'Bearer', expires_in: 3600, scope: 'api1' },
        },
      },
    ],
  },
  {
    name: 'a wrong client secret is refused with a challenge',
    steps: [
      {
        send: form('/connect/token', { grant_type: 'client_credentials', scope: 'api1' }, basic(['web', 'wrong'])),
        expect: refused(401, 'invalid_client', { 'www-authenticate': 'Basic realm="https://id.example.com"' }),
      },
    ],
  },
]
