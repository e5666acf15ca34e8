import type { AtomicDriver } from '@grantry/core'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { storageIn } from '../configuration/storage/configured-space.ts'
import { configuredStorage } from '../configuration/storage/storage-drivers.ts'
import { tenantConfiguration } from '../configuration/tenant-configuration.ts'
import { errorInFile } from '../error-message.ts'
import { type FoundTenant, findTenant, tenantEntries } from './find-tenant.ts'

async function find(loaded: LoadedConfiguration, driver: AtomicDriver, name: string): Promise<FoundTenant | undefined> {
  const { configuration } = loaded
  const { tenants, administration } = configuration
  if (tenants === undefined) throw new TypeError('the configuration has no tenants; remove --tenant, or add "tenants"')
  await driver.open?.()
  return findTenant(tenants, administration ? tenantEntries(configuration, driver) : undefined, name)
}

/**
 * Returns the configuration of a tenant, whose storage is its part.
 *
 * @throws TypeError with a one-line message that starts with the file
 */
export async function configurationForTenant(loaded: LoadedConfiguration, name: string): Promise<LoadedConfiguration> {
  const { configuration, directory, file } = loaded
  const { driver } = await configuredStorage(configuration.storage, directory)
  try {
    const match = await find(loaded, driver, name)
    if (match === undefined || configuration.tenants === undefined) {
      throw new TypeError(`there is no tenant ${name}, or it is disabled; grantry tenants list shows them`)
    }
    const ofTenant = tenantConfiguration(configuration, configuration.tenants, match.tenant)
    return { ...loaded, configuration: { ...ofTenant, storage: storageIn(ofTenant.storage, match.space) } }
  } catch (cause) {
    throw errorInFile(cause, file)
  } finally {
    await driver.dispose?.()
  }
}
