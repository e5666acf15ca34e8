// The entry point of `grantry.mjs`, the whole server in one file.
import * as core from '@grantry/core'
import * as account from '@grantry/plugins/account'
import * as authorizationEndpoint from '@grantry/plugins/authorization-endpoint'
import * as backChannelLogout from '@grantry/plugins/back-channel-logout'
import * as clientAssertion from '@grantry/plugins/client-assertion'
import * as clientMetadata from '@grantry/plugins/client-metadata'
import * as deviceAuthorization from '@grantry/plugins/device-authorization'
import * as dpop from '@grantry/plugins/dpop'
import * as endSession from '@grantry/plugins/end-session'
import * as errorPages from '@grantry/plugins/error-pages'
import * as fapi2 from '@grantry/plugins/fapi2'
import * as idJag from '@grantry/plugins/id-jag'
import * as jwtBearer from '@grantry/plugins/jwt-bearer'
import * as jwtIntrospection from '@grantry/plugins/jwt-introspection'
import * as mtls from '@grantry/plugins/mtls'
import * as oneTimePassword from '@grantry/plugins/one-time-password'
import * as passkeys from '@grantry/plugins/passkeys'
import * as pushedAuthorization from '@grantry/plugins/pushed-authorization'
import * as registration from '@grantry/plugins/registration'
import * as resourceIndicators from '@grantry/plugins/resource-indicators'
import * as selfService from '@grantry/plugins/self-service'
import * as signIn from '@grantry/plugins/sign-in'
import * as signInPlugins from '@grantry/plugins/sign-in-plugins'
import * as tokenExchange from '@grantry/plugins/token-exchange'
import * as upstream from '@grantry/plugins/upstream'
import * as workloadIdentity from '@grantry/plugins/workload-identity'
import * as valibot from 'valibot'
import { main } from './cli.ts'
import { bundledModules } from './configuration/import-module.ts'
import * as grantry from './index.ts'

const plugins = {
  account,
  'authorization-endpoint': authorizationEndpoint,
  'back-channel-logout': backChannelLogout,
  'client-assertion': clientAssertion,
  'client-metadata': clientMetadata,
  'device-authorization': deviceAuthorization,
  dpop,
  'end-session': endSession,
  'error-pages': errorPages,
  fapi2,
  'id-jag': idJag,
  'jwt-bearer': jwtBearer,
  'jwt-introspection': jwtIntrospection,
  mtls,
  'one-time-password': oneTimePassword,
  passkeys,
  'pushed-authorization': pushedAuthorization,
  registration,
  'resource-indicators': resourceIndicators,
  'self-service': selfService,
  'sign-in': signIn,
  'sign-in-plugins': signInPlugins,
  'token-exchange': tokenExchange,
  upstream,
  'workload-identity': workloadIdentity,
}

bundledModules.set('grantry', grantry).set('@grantry/core', core).set('valibot', valibot)
for (const [name, exports] of Object.entries(plugins)) bundledModules.set(`@grantry/plugins/${name}`, exports)
process.exitCode = await main(process.argv.slice(2))
