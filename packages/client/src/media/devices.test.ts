import { expect, test } from 'vitest'
import { devicesOf, NO_DEVICES } from './devices.ts'

const device = (kind: MediaDeviceKind, deviceId: string, label = '') => ({ kind, deviceId, label })

test('microphones and speakers are told apart, cameras left out', () => {
  expect(
    devicesOf([
      device('audioinput', 'm1', 'Headset'),
      device('audiooutput', 's1', 'Speakers'),
      device('videoinput', 'c1', 'Camera'),
    ]),
  ).toEqual({
    microphones: [{ id: 'm1', label: 'Headset' }],
    speakers: [{ id: 's1', label: 'Speakers' }],
  })
})

test('entries without an id, and the alias of the default, are no choice', () => {
  expect(devicesOf([device('audioinput', ''), device('audioinput', 'default', 'Default')])).toEqual(
    NO_DEVICES,
  )
})

test('a device without a name gets a number', () => {
  expect(devicesOf([device('audioinput', 'a'), device('audioinput', 'b')]).microphones).toEqual([
    { id: 'a', label: 'Device 1' },
    { id: 'b', label: 'Device 2' },
  ])
})
