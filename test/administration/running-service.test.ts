// Entries that administrators and clients change while four processes of the server run on one storage.
import { testServiceOnEveryStore } from './on-every-store.ts'
import { clientsChange } from './running-clients.ts'
import { clientsRegister, registration } from './running-registrations.ts'
import { scopesChange } from './running-scopes.ts'
import { listed, tenantsChange } from './running-tenants.ts'
import { signInClient, usersChange } from './running-users.ts'

testServiceOnEveryStore(
  'while four processes run',
  {
    clients: [signInClient],
    plugins: [registration],
    tenants: { list: [listed] },
  },
  {
    'clients change': clientsChange,
    'scopes change': scopesChange,
    'users change': usersChange,
    'clients register': clientsRegister,
    'tenants are created and end': tenantsChange,
  },
)
