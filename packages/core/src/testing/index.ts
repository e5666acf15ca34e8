export { mapDriver } from './map-driver.ts'
export { createTestClock, type TestClock } from './test-clock.ts'
export {
  type Answer,
  basic,
  type Credentials,
  createTestProvider,
  read,
  sha256Of,
  type TestProvider,
  type TestProviderOptions,
  testClient,
} from './test-provider.ts'
