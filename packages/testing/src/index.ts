export { mapDriver } from './map-driver.ts'
export type {
  BindingCase,
  CaseContext,
  CaseParameters,
  EndpointCase,
  GrantCase,
  MethodCase,
  ParametersOf,
  PluginCases,
  PreparedCredentials,
  ProvingRequest,
  RefusedCase,
} from './plugin/cases.ts'
export type { PluginRule } from './plugin/findings.ts'
export { testPlugin } from './plugin/test-plugin.ts'
export {
  basic,
  type Credentials,
  createTestClock,
  createTestProvider,
  type NewGrant,
  read,
  sha256Of,
  storeGrant,
  type TestClock,
  type TestProvider,
  type TestProviderOptions,
  type TestResponse,
  testClient,
} from './test-provider.ts'
