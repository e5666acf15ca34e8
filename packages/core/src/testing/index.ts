export { mapDriver } from './map-driver.ts'
export {
  basic,
  type Credentials,
  createTestClock,
  createTestProvider,
  read,
  sha256Of,
  type TestClock,
  type TestProvider,
  type TestProviderOptions,
  type TestResponse,
  testClient,
} from './test-provider.ts'
