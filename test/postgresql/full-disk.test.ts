// A disk that is full: a clear sentence, nothing half-written, and everything works again afterwards. A trigger fails
// as PostgreSQL does, because a test cannot mount a small disk everywhere.
import { expect, test } from 'vitest'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlDrivers } from '../support/postgresql-drivers.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'

const full = `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'could not extend file "base/5/16389": No space left on device' USING ERRCODE = '53100';
END $$;
CREATE TRIGGER full_disk BEFORE INSERT ON grantry_items FOR EACH ROW WHEN (NEW.value = 'large') EXECUTE FUNCTION full_disk()`

describeWithPostgresql('a full disk of PostgreSQL', () => {
  const start = postgresqlServers()
  const driverOf = postgresqlDrivers()

  test('rejects what does not fit, keeps what was stored, and needs no restart', async () => {
    const server = await start()
    const driver = driverOf({ url: server.url })
    await driver.setItem('there', 'small', { ttl: 60 })
    await server.query(full)
    const changes = {
      create: [{ key: 'spent', value: 'small', ttl: 60 }],
      put: [{ key: 'access', value: 'large', ttl: 60 }],
      remove: ['there'],
    }
    const sentence = /database "postgres" has no space left on its disk: could not extend file .*\(53100\)$/u
    await expect(driver.commit(changes)).rejects.toThrow(sentence)
    await expect(driver.insertItem('new', 'large', { ttl: 60 })).rejects.toThrow(sentence)
    expect(await driver.getKeys()).toEqual(['there'])
    await driver.removeItem('there')
    await server.query('DROP TRIGGER full_disk ON grantry_items')
    expect(await driver.commit(changes)).toBe(true)
  })
})
