import type { ClientView, FormView } from '../views.ts'

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

export const form: FormView = {
  action: 'https://id.example.com/connect/signin',
  fields: { interaction: 'abc', form_token: 'token' },
  formTargets: ['https:'],
}
