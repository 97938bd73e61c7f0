"""botocore as the reference: a real client whose connection is replaced, so that all its handlers run."""

import io
import os
import unittest.mock

import botocore.awsrequest
import botocore.client
import botocore.config
import botocore.exceptions
import botocore.handlers
import botocore.parsers
import botocore.session

TOKEN = "00000000-0000-4000-8000-000000000000"

# What botocore does for its callers beyond the protocol, and why the product does it elsewhere or not at all.
HANDLERS_LEFT_OUT = [
    # Callers of RunInstances and GetConsoleOutput give and take base64 here, as the wire has it.
    ("before-parameter-build.ec2.RunInstances", botocore.handlers.base64_encode_user_data),
    ("after-call.ec2.GetConsoleOutput", botocore.handlers.decode_console_output),
    # Listings come without url encoding: our reader takes the character references that botocore's refuses.
    ("before-parameter-build.s3.ListObjects", botocore.handlers.set_list_objects_encoding_type_url),
    ("before-parameter-build.s3.ListObjectsV2", botocore.handlers.set_list_objects_encoding_type_url),
    ("before-parameter-build.s3.ListObjectVersions", botocore.handlers.set_list_objects_encoding_type_url),
    # Keys of the caller's own (SSE-C) are not part of the product; their digests are the caller's members.
    *[(f"before-parameter-build.s3.{name}", botocore.handlers.sse_md5)
      for name in ("HeadObject", "GetObject", "PutObject", "CopyObject", "CreateMultipartUpload", "UploadPart", "UploadPartCopy",
                   "CompleteMultipartUpload")],
    ("before-parameter-build.s3.CopyObject", botocore.handlers.copy_source_sse_md5),
    ("before-parameter-build.s3.UploadPartCopy", botocore.handlers.copy_source_sse_md5),
    # CopySource is given as the header wants it.
    ("before-parameter-build.s3.CopyObject", botocore.handlers.handle_copy_source_param),
    ("before-parameter-build.s3.UploadPartCopy", botocore.handlers.handle_copy_source_param),
]


class Connection:
    """Stands in for the HTTP session: keeps the request, gives the prepared answer."""

    def __init__(self):
        self.request, self.answer = None, None

    def send(self, request):
        self.request = self.request or request  # the redirector of S3 may ask further
        status, headers, body = self.answer
        fields = botocore.awsrequest.HeadersDict(headers)
        raw = io.BytesIO(body)
        raw.stream = lambda *unused, **also_unused: iter([body])
        return botocore.awsrequest.AWSResponse(request.url, status, fields, raw)

    def close(self):
        pass


class Reference:
    def __init__(self, service):
        for name in list(os.environ):
            if name.startswith("AWS_"):
                del os.environ[name]
        os.environ["AWS_CONFIG_FILE"] = os.environ["AWS_SHARED_CREDENTIALS_FILE"] = os.devnull
        unittest.mock.patch("botocore.handlers.uuid.uuid4", lambda: TOKEN).start()
        config = botocore.config.Config(parameter_validation=False, retries={"total_max_attempts": 1, "mode": "standard"},
                                        s3={"addressing_style": "path"}, disable_request_compression=True,
                                        response_checksum_validation="when_required")
        # Without TLS the checksum of an upload stands in a header, as ours does always, and not in a trailer.
        self.client = botocore.session.get_session().create_client(
            service, region_name="us-east-1", config=config, aws_access_key_id="AKIDEXAMPLE", aws_secret_access_key="secret",
            endpoint_url=f"http://{service}.reference.test")
        for event, handler in HANDLERS_LEFT_OUT:
            if event.split(".")[1] == service:
                self.client.meta.events.unregister(event, handler)
        self.connection = Connection()
        self.client._endpoint.http_session = self.connection
        self.model = self.client.meta.service_model

    def call(self, operation, parameters, answer):
        """The prepared request, and what became of the answer: ("values", dict), ("error", dict) or ("unreadable", text)."""
        self.connection.request, self.connection.answer = None, answer
        try:
            values = self.client._make_api_call(operation, parameters)
            values.pop("ResponseMetadata", None)
            outcome = ("values", values)
        except botocore.exceptions.ClientError as error:
            outcome = ("error", error.response)
        except Exception as error:  # the reference crashes on some answers, in many ways
            outcome = ("unreadable", f"{type(error).__name__}: {error}")
        return self.connection.request, outcome
