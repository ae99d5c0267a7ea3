import { object, required, SESSION, type ServiceFacts } from './service.ts'

/** Faces that speak. */
export const VIDEO_SERVICES: readonly ServiceFacts[] = [
  {
    id: 'heygen_video',
    label: 'HeyGen',
    className: 'HeyGenVideoService',
    module: 'heygen.video',
    extras: ['heygen'],
    parameters: {
      api_key: required('HEYGEN_API_KEY'),
      service_type: { kind: 'member', name: 'ServiceType', module: 'heygen.client', member: 'LIVE_AVATAR' },
      session: SESSION,
      session_request: object('LiveAvatarNewSessionRequest', 'heygen.api_liveavatar', {
        avatar_id: required('HEYGEN_AVATAR_ID'),
      }),
    },
    picture: { width: 1280, height: 720 },
  },
  {
    id: 'tavus_video',
    label: 'Tavus',
    className: 'TavusVideoService',
    module: 'tavus.video',
    extras: ['tavus'],
    parameters: {
      api_key: required('TAVUS_API_KEY'),
      replica_id: required('TAVUS_REPLICA_ID'),
      session: SESSION,
    },
    picture: { width: 1280, height: 720 },
  },
  {
    id: 'simli_video',
    label: 'Simli',
    className: 'SimliVideoService',
    module: 'simli.video',
    extras: ['simli'],
    parameters: { api_key: required('SIMLI_API_KEY'), face_id: required('SIMLI_FACE_ID') },
    picture: { width: 512, height: 512 },
  },
]
