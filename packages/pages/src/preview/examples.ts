import type { ClientView } from '@grantry/plugins/sign-in'

/** An application that has everything. */
export const client: ClientView = {
  clientId: 'shop',
  name: 'Example Shop',
  uri: 'https://shop.example.com',
  logoUri: 'https://shop.example.com/logo.png',
  policyUri: 'https://shop.example.com/privacy',
  tosUri: 'https://shop.example.com/terms',
}

export const plainClient: ClientView = { clientId: 'reports', name: 'Reports' }

export const form = {
  action: 'https://id.example.com/connect/signin',
  fields: { interaction: 'abc', form_token: 'token' },
  formTargets: ['https:'],
}
