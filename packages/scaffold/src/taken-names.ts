/** Python packages that a project may depend on, directly or not: pipecat-ai with all of its extras, and our tools. */
const PYTHON = `
  accelerate agent-detector aic-sdk aiobotocore aiofiles aiohappyeyeballs aiohttp aiohttp-retry aioice
  aiortc aiosignal annotated-doc annotated-types anthropic anyio asyncpg attrs audioop-lts av
  aws-sdk-bedrock-runtime aws-sdk-sagemaker-runtime-http2 azure-cognitiveservices-speech bcrypt botcli
  boto3 build camb-sdk cartesia certifi cffi charset-normalizer chromadb click coremltools cryptography
  daily-python deepgram-sdk detect-installer dnspython docopt docstring-parser durationpy einops
  elevenlabs email-validator fastapi fastapi-cli fastapi-cloud-cli fastar faster-whisper filelock
  flatbuffers frozenlist fsspec funasr gitdb gitpython google-cloud-speech google-cloud-texttospeech
  google-crc32c google-genai googleapis-common-protos groq grpcio h11 h2 hatchling hf-xet hpack httpcore
  httpcore2 httptools httpx httpx2 huggingface-hub hume hyperframe idna ifaddr importlib-resources
  itsdangerous jinja2 jiter jsonschema jsonschema-specifications kokoro-onnx kubernetes langchain
  langchain-community langchain-openai livekit livekit-api llvmlite loguru loudness markdown
  markdown-it-py markupsafe mcp mcp-types mdurl mem0ai mistralai mlx-whisper mmh3 moonshine-voice moq-rs
  multidict num2words numba numpy nvidia-riva-client oauthlib onnxruntime openai opencv-python-headless
  opentelemetry-api opentelemetry-exporter-http-transport opentelemetry-exporter-otlp-common
  opentelemetry-exporter-otlp-proto-common opentelemetry-exporter-otlp-proto-grpc
  opentelemetry-exporter-otlp-proto-http opentelemetry-instrumentation opentelemetry-proto
  opentelemetry-sdk opentelemetry-semantic-conventions orjson ormsgpack overrides packaging pgmq pillow
  pipecat pipecat-ai pipecat-ai-context-hub pipecat-ai-prebuilt pipecat-ai-whisker piper-tts pocket-tts
  prompt-toolkit propcache protobuf pvkoala pyaudio pybase64 pycparser pydantic pydantic-core
  pydantic-extra-types pydantic-settings pyee pygments pygobject pyjwt pylibsrtp pyopenssl pypika
  pyproject-hooks pyright pyrnnoise pytest python-dateutil python-dotenv python-multipart pyvips pyyaml
  questionary redis referencing requests requests-oauthlib resampy rich rich-toolkit rignore rime-api
  rpds-py ruff sarvamai sentencex sentry-sdk shellingham simli-ai smmap sniffio soniox soundfile soxr
  speechmatics-agent-stt sse-starlette starlette strands-agents tenacity timm tokenizers tomlkit torch
  torchaudio tqdm transformers tree-sitter tree-sitter-typescript truststore twilio typer
  typing-extensions typing-inspection tzdata urllib3 uvicorn uvloop vonage-video-connector wait-for2
  watchfiles wcwidth websocket-client websockets yarl
`

/** Packages that a client depends on. */
const NPM = 'eslint globals next react react-dom typescript vite'

/** Names of packages that a project depends on. A project with such a name cannot be installed. */
export const TAKEN_NAMES: ReadonlySet<string> = new Set(`${PYTHON} ${NPM}`.split(/\s+/).filter(Boolean))
